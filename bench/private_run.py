"""Writes a run on a private document, with words of it wherever a run keeps any.

Each sentence of the document has a word of its own, which is found in whatever form an answer comes.
"""

from uuid import UUID, uuid4

import asyncpg
import orjson

from app.asking.storage import rubrics
from app.domain.budget import StopReason, Usage
from app.domain.changes import FallenClaim, FallReason, NewClaim, PassageChange, ReportChanges, ShownWords
from app.domain.chat import ToolCall, ToolResult
from app.domain.citations import marker_of
from app.domain.claims import Claim, Support
from app.domain.evidence import Finding, Passage, Quote, Source, SourceConflict, snapshot_hash
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.report import Report, Section
from app.domain.revision import FollowUp, TaskKind, TaskRequest
from app.domain.run import EventType, RunStatus
from app.domain.scorecard import CriterionScore, scorecard_of
from app.domain.trajectory import Turn, TurnKind
from app.reports.rendering import render
from app.reports.storage.reports import find_surroundings
from app.runs.storage import runs, tool_results
from app.runs.storage.run_log import NOTHING, RunLog, SourceSnapshot
from tests.support.stage_opening import open_stage
from workflows.judging.general_rubric import make_general_rubric

WORDS = tuple(f"zeugma{n:02}q" for n in range(40))
SENTENCES = tuple(f"The ledger of pier {n} names a cargo of {word} for the night." for n, word in enumerate(WORDS))
QUOTED = 4
"""So many sentences, from the first on, are quoted by the report."""
HIDDEN = WORDS[QUOTED:]
DOCUMENT = "\n\n".join(SENTENCES)
TWIN = "A notice that hangs in the harbour, and lies in the drawer."
"""The text of another document of the collection, and of a page of the web."""
PAGE = "Anybody may read that the harbour opened in 1887."
LEDGER = Source(url="file:///Drawer/ledger.txt", title="ledger.txt", snapshot=snapshot_hash(DOCUMENT), kind="file")
NOTICE = Source(url="file:///Drawer/notice.txt", title="notice.txt", snapshot=snapshot_hash(TWIN), kind="file")
ON_THE_WEB = Source(url="https://example.org/harbour", title="Harbour", snapshot=snapshot_hash(PAGE), kind="web")
PLAN = ResearchPlan(title="Cargo", subtasks=(Subtask(id="s1", title="Ledgers", question="Which ledgers?"),))
SEARCH = "search/s1"
CITED = {"title": LEDGER.title, "url": LEDGER.url, "snapshot": LEDGER.snapshot}


def quote_of(n: int) -> Quote:
    """Return the quotation of one sentence of the document."""
    start = DOCUMENT.index(SENTENCES[n])
    return Quote(source=LEDGER, text=SENTENCES[n], start=start, end=start + len(SENTENCES[n]))


def _show(n: int) -> ShownWords:
    return ShownWords(title="ledger.txt", url=LEDGER.url, text=SENTENCES[n])


CHANGES = ReportChanges(
    passages=(PassageChange(before=_show(0), after=_show(34)),),
    fallen=(
        FallenClaim(claim=SENTENCES[0], why=FallReason.CHANGED, support=Support.NONE, before=(_show(0),), after=(_show(35),)),
    ),
    new_claims=(NewClaim(claim=SENTENCES[1], quotes=(_show(36),)),),
    new_sources=(ShownWords(title=SENTENCES[37], url=LEDGER.url, text=""),),
)
TASK = """
    INSERT INTO report_tasks (id, run_id, kind, base, request, status, answer, finished_at, created_by)
    VALUES ($1, $2, 'question', 1, $3, 'done', $4, now(), $5)"""
CANDIDATE = """
    INSERT INTO candidates (comparison_id, place, organisation_id, digest, title, markdown, shown, report, lineage, tokens,
                            cost_microusd)
    VALUES ($1, $2, $3, $2, $4, $4, $5, '{"citations": [], "claims": []}', '{}', 0, 0)"""


async def write_private_run(database: asyncpg.Pool, run_id: UUID, asker: UUID) -> UUID:
    """Write what a worker writes of a run on the document, to its end; return the id of an answered question of this person."""
    log = RunLog(database)
    await log.save_plan(run_id, PLAN, (), EventType.PLAN_MADE)
    await _write_search(log, run_id)
    await _write_events(log, run_id)
    await _write_report(database, log, run_id)
    answer = FollowUp(body=f"{SENTENCES[28]} {marker_of(quote_of(29))}", quotes=(quote_of(29),))
    asked = TaskRequest(kind=TaskKind.QUESTION, base=1, text="Which cargo else?")
    await database.execute(TASK, task := uuid4(), run_id, asked.model_dump_json(), answer.model_dump_json(), asker)
    return task


async def write_twin_run(database: asyncpg.Pool, run_id: UUID) -> None:
    """Write a run without collections that read, on the web, a text which the collection has as well."""
    log = RunLog(database)
    opened = await open_stage(log, run_id, SEARCH, None)
    await log.close_stage(run_id, SEARCH, opened.attempt, b"{}", [], _told(SEARCH), [NOTICE.snapshot], [NOTICE.snapshot])
    await log.set_status(run_id, RunStatus.COMPLETED)


async def write_second_report(database: asyncpg.Pool, organisation: UUID, comparison: UUID, made_run: UUID) -> None:
    """Write the second report over the same evidence, and both as they are compared."""
    log, report = RunLog(database), Report(title="Cargo", sections=(Section(heading="Then", body=SENTENCES[32]),))
    draft = {"section": 1, "heading": "Then", "markdown": SENTENCES[33], "citations": []}
    await log.append_event(made_run, EventType.SECTION_WRITTEN, "report/section/1", draft)
    run = await runs.get(database, made_run)
    assert run is not None
    rendered = render(report, run)
    await log.save_report(made_run, report, rendered.renderings, rendered.evidence, rendered.told)
    await log.set_status(made_run, RunStatus.COMPLETED)
    for place, n in (("delivered", 0), ("alternative", 30)):
        cited = {
            "n": 1,
            "quote": SENTENCES[n and n + 1],
            "start": 0,
            "end": 1,
            "source": CITED,
        }
        shown = orjson.dumps({"citations": [cited], "claims": []}).decode()
        await database.execute(CANDIDATE, comparison, place, organisation, SENTENCES[n], shown)


async def _write_search(log: RunLog, run_id: UUID) -> None:
    opened = await open_stage(log, run_id, SEARCH, None, "Ledgers")
    passage = Passage(source=LEDGER, text=SENTENCES[26], start=0, end=len(SENTENCES[26]))
    call = ToolCall(name="search", arguments={"query": SENTENCES[9]})
    turn = Turn(
        agent=SEARCH, ordinal=0, kind=TurnKind.TOOL, step="search", digest="d", call=call, result=ToolResult(passages=(passage,))
    )
    told = {
        "tool": "search",
        "query": SENTENCES[9],
        "results": 1,
        "sources": [{"title": SENTENCES[10], "url": SENTENCES[13]}],
        "error": SENTENCES[11],
        "note": SENTENCES[12],
    }
    usage = Usage(tool_calls=1)
    await log.store_turn(run_id, SEARCH, opened.attempt, turn, usage, NOTHING, None, EventType.TOOL_CALL, told)
    await tool_results.remember(log.executor, run_id, "search", SENTENCES[27].encode())
    quotes = (quote_of(24), Quote(source=ON_THE_WEB, text=PAGE, start=0, end=len(PAGE)))
    finding = Finding(
        subtask_id="s1",
        answer=SENTENCES[21],
        thoughts=(SENTENCES[22],),
        gaps=(SENTENCES[23],),
        quotes=quotes,
        stop=StopReason.SUFFICIENT,
    )
    texts = [SourceSnapshot(snapshot_hash(text), text) for text in (DOCUMENT, TWIN, PAGE)]
    body = finding.model_dump_json(exclude_defaults=True).encode()
    await log.close_stage(run_id, SEARCH, opened.attempt, body, texts, _told(SEARCH), (), [ON_THE_WEB.snapshot])


async def _write_events(log: RunLog, run_id: UUID) -> None:
    suspicious = {"message": SENTENCES[14], "source": {"title": SENTENCES[15], "url": "u"}, "patterns": [], "withheld": 0}
    outline = {"title": SENTENCES[17], "sections": [{"section": 1, "heading": SENTENCES[16]}]}
    cited = {"n": 1, "quote": SENTENCES[20], "start": 0, "end": 1, "source": CITED}
    draft = {"section": 1, "heading": SENTENCES[18], "markdown": SENTENCES[19], "citations": [cited]}
    await log.append_event(run_id, EventType.WARNING, SEARCH, suspicious)
    await log.append_event(run_id, EventType.OUTLINE_MADE, "report", outline)
    await log.append_event(run_id, EventType.SECTION_WRITTEN, "report/section/1", draft)


async def _write_report(database: asyncpg.Pool, log: RunLog, run_id: UUID) -> None:
    run = await runs.get(database, run_id)
    assert run is not None
    report = _make_report()
    around = await find_surroundings(database, report.quotes)
    rendered = render(report, run, around)
    await rubrics.add(database, run_id, make_general_rubric(ResearchQuery(question="Which cargo?")), None)
    opened = await open_stage(log, run_id, "report", None)
    await log.close_stage(run_id, "report", opened.attempt, b'{"title": "Cargo", "lineage": {}}', [], _told("report"))
    await log.save_report(run_id, report, rendered.renderings, rendered.evidence, rendered.told)
    criterion = make_general_rubric(run.query).criteria[0]
    score = CriterionScore(criterion=criterion, score=1, reason=SENTENCES[8], sentences=(SENTENCES[25],), judge="model")
    await rubrics.save_scorecard(database, run_id, scorecard_of([score]))
    await log.set_status(run_id, RunStatus.COMPLETED)


def _told(stage: str) -> dict[str, object]:
    return {"stage": stage, "title": "Ledgers", "stop": "sufficient", "quotes": 2, "sources": 2}


def _make_report() -> Report:
    """Make a report that quotes four sentences, and holds quotes and a conflict that it does not print."""
    cited = [quote_of(n) for n in range(QUOTED)]
    body = " ".join(f"{SENTENCES[n]} {marker_of(quote)}" for n, quote in enumerate(cited))
    claim = Claim(
        text=SENTENCES[0],
        section=0,
        start=0,
        end=len(SENTENCES[0]),
        quote_keys=(cited[0].key,),
        support=Support.PARTIAL,
        reason=SENTENCES[7],
        judge="model",
    )
    loose = (quote_of(4), quote_of(5))
    return Report(
        title="Cargo",
        sections=(Section(heading="Then", body=body),),
        quotes=(*cited, *loose),
        conflicts=(SourceConflict(about=SENTENCES[6], quote_keys=tuple(quote.key for quote in loose)),),
        claims=(claim,),
    )
