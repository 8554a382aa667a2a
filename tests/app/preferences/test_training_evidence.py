"""The evidence of compared reports in the training export: under the same consents, whole or not at all."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest

from app.domain.budget import StopReason, Usage
from app.domain.chat import Completion, ToolCall, ToolResult
from app.domain.evidence import Finding, Passage, Quote
from app.domain.query import ResearchQuery
from app.domain.run import EventType
from app.domain.trajectory import Turn, TurnKind
from app.preferences.nouns.evidence import RunEvidence
from app.preferences.service.pseudonyms import Pseudonyms
from app.preferences.service.training_export import export
from app.runs.storage.run_log import NOTHING, RunLog
from tests.app.annotators import PLAN, QUOTES, SOURCE, TEXT
from tests.app.preferences.consenting_readers import BEGINNING, NAMES, Readers, rows
from tests.support.stage_opening import open_stage
from workflows.agents.foreign_tools import FOREIGN_PREFIX

HOST = "qdrant.internal.example:6333"
PASSAGE = Passage(source=SOURCE, text=TEXT, start=0, end=len(TEXT))
FILE = SOURCE.model_copy(update={"url": "file:///notes/plan.md", "kind": "file"})


def use_tool(ordinal: int, said: str, result: ToolResult, name: str = "search") -> Turn:
    call = ToolCall(name=name, arguments={"query": said})
    return Turn(agent="search/s1", ordinal=ordinal, kind=TurnKind.TOOL, step=name, digest="d", call=call, result=result)


def ask_model(ordinal: int, step: str, said: str) -> Turn:
    completion = Completion(text=said, model="m")
    return Turn(agent="report", ordinal=ordinal, kind=TurnKind.MODEL, step=step, digest="d", completion=completion)


async def store_turns(readers: Readers, run_id: UUID, stage: str, *turns: Turn) -> None:
    """Store turns of a stage, as a worker does."""
    await readers.pool.execute("UPDATE stages SET done = false WHERE run_id = $1 AND stage = $2", run_id, stage)
    log = RunLog(readers.pool)
    opening = await open_stage(log, run_id, stage, None)
    for turn in turns:
        await log.store_turn(run_id, stage, opening.attempt, turn, Usage(), NOTHING, None, EventType.MODEL_CALL, {})
    await readers.pool.execute("UPDATE stages SET done = true WHERE run_id = $1 AND stage = $2", run_id, stage)


@pytest.fixture
async def compared(readers: Readers) -> UUID:
    """A run over public sources, with what its agents stored. Its report and a second one were compared by two readers."""
    found = await readers.pool.fetchrow("SELECT run_id, made_run_id FROM comparisons WHERE id = $1", UUID(readers.comparison))
    assert found is not None
    run_id: UUID = found["run_id"]
    query = ResearchQuery(question="Why duties?").model_dump_json()
    await readers.pool.execute("UPDATE runs SET query = $2 WHERE id = $1", run_id, query)
    refused = ToolResult(error=f"http://{HOST} refuses")
    partial = ToolResult(passages=(PASSAGE,), note=f"the papers: {HOST} is away")
    part = ToolResult(passages=(PASSAGE,), note="part 1 of 2")
    await store_turns(
        readers, run_id, "search/s1",
        use_tool(0, "duties", partial), use_tool(1, " duties ", partial), use_tool(2, "prices", refused),
        use_tool(3, "u", part, "browse"),
    )  # fmt: skip
    outlines = [ask_model(0, "outline", "not yet"), ask_model(1, "outline", "an outline"), ask_model(2, "aggregation", "places")]
    await store_turns(readers, run_id, "report", *outlines)
    await store_turns(readers, found["made_run_id"], "report", ask_model(0, "outline", "another outline"))
    return run_id


async def change_finding(readers: Readers, run_id: UUID, **update: Any) -> None:
    finding = Finding(subtask_id="s1", quotes=(QUOTES[0],), stop=StopReason.SUFFICIENT).model_copy(update=update)
    body = finding.model_dump_json().encode()
    await readers.pool.execute("UPDATE stages SET result = $2 WHERE run_id = $1 AND stage = 'search/s1'", run_id, body)


async def test_evidence_is_one_row_a_run_which_its_pairs_name(readers: Readers, compared: UUID, tmp_path: Path) -> None:
    await change_finding(readers, compared, detail=f"http://{HOST} refuses")
    manifest = await readers.export(tmp_path / "x", evidence=True)
    [evidence] = [RunEvidence.model_validate(row) for row in rows(tmp_path / "x", "evidence.jsonl")]
    [pair], [undecided] = rows(tmp_path / "x", "pairs.jsonl"), rows(tmp_path / "x", "undecided.jsonl")
    assert pair["evidence"] == undecided["evidence"] == evidence.id
    assert (evidence.plan, [f.subtask_id for f in evidence.findings]) == (PLAN, ["s1", "s2"])
    assert [quote for finding in evidence.findings for quote in finding.quotes] == list(QUOTES)
    steps = evidence.reports[pair["rejected"]["digest"]]
    assert (steps.outline, steps.aggregation) == ("an outline", "places")
    assert evidence.reports[pair["accepted"]["digest"]].outline == "another outline"
    assert steps.asked_on == datetime.now(UTC).date()
    assert [call.result.note for call in evidence.tape] == ["", "", "part 1 of 2"]
    assert [call.call.arguments["query"] for call in evidence.tape if call.result.error] == ["prices"]
    assert evidence.tape[0].result.passages == (PASSAGE,)
    written = (tmp_path / "x" / "evidence.jsonl").read_text()
    people = (readers.asker.id, readers.fond.id, readers.torn.id, readers.organisation, readers.comparison, compared)
    assert [name for name in (*map(str, people), "Bob Miller", HOST) if name in written] == []
    assert (manifest.files["evidence.jsonl"]["rows"], manifest.evidence_left_out) == (1, {})


async def test_without_being_asked_for_no_evidence_leaves(readers: Readers, compared: UUID, tmp_path: Path) -> None:
    manifest = await readers.export(tmp_path / "x")
    assert "evidence.jsonl" not in manifest.files
    assert not (tmp_path / "x" / "evidence.jsonl").exists()
    assert len(rows(tmp_path / "x", "pairs.jsonl")) == 1


async def test_the_same_evidence_gives_the_same_bytes_and_another_key_another_name(
    readers: Readers, compared: UUID, tmp_path: Path
) -> None:
    now = datetime.now(UTC) + timedelta(hours=1)
    for folder, names in (("a", NAMES), ("b", NAMES), ("c", Pseudonyms(b"other" * 8))):
        await export(readers.pool, tmp_path / folder, BEGINNING, now, names, evidence=True)
    first, again, other = [(tmp_path / folder / "evidence.jsonl").read_bytes() for folder in "abc"]
    assert first == again
    named, renamed = orjson.loads(first), orjson.loads(other)
    assert named.pop("id") != renamed.pop("id")
    assert named == renamed


@pytest.mark.parametrize("who", ["organisation", "asker", "both readers", "erased asker", "erased readers"])
async def test_evidence_goes_with_the_last_consent_to_a_pair_of_it(
    readers: Readers, compared: UUID, tmp_path: Path, who: str
) -> None:
    await readers.export(tmp_path / "before", evidence=True)
    assert len(rows(tmp_path / "before", "evidence.jsonl")) == 1
    if who == "organisation":
        await readers.asker.put("/v1/consent", {"organisation": False})
    elif who.startswith("erased"):
        erased = [readers.asker.id] if who == "erased asker" else [readers.fond.id, readers.torn.id]
        await readers.pool.execute("DELETE FROM users WHERE id = ANY($1)", erased)
    else:
        for person in [readers.asker] if who == "asker" else [readers.fond, readers.torn]:
            await person.put("/v1/consent", {"person": False})
    manifest = await readers.export(tmp_path / "after", evidence=True)
    assert (tmp_path / "after" / "evidence.jsonl").read_bytes() == b""
    assert manifest.evidence_left_out == {}


async def test_a_pair_that_is_left_keeps_the_evidence_under_the_same_name(
    readers: Readers, compared: UUID, tmp_path: Path
) -> None:
    await readers.export(tmp_path / "before", evidence=True)
    await readers.fond.put("/v1/consent", {"person": False})
    await readers.export(tmp_path / "after", evidence=True)
    assert not rows(tmp_path / "after", "pairs.jsonl")
    assert (tmp_path / "after" / "evidence.jsonl").read_bytes() == (tmp_path / "before" / "evidence.jsonl").read_bytes()


async def test_a_deleted_run_leaves_neither_pair_nor_evidence(readers: Readers, compared: UUID, tmp_path: Path) -> None:
    assert (await readers.asker.send("DELETE", f"/v1/runs/{compared}")).status == 204
    await readers.export(tmp_path / "x", evidence=True)
    assert not rows(tmp_path / "x", "pairs.jsonl")
    assert not rows(tmp_path / "x", "evidence.jsonl")


OWN = ["a collection", "a tenant", "a quote of a file", "a passage of a file", "an answer of a foreign tool", "a foreign tool"]


@pytest.mark.parametrize("what", OWN)
async def test_evidence_with_documents_of_ones_own_stays(readers: Readers, compared: UUID, tmp_path: Path, what: str) -> None:
    if what == "a collection":
        collection = uuid4()
        statement = "INSERT INTO collections (id, name, everyone, organisation_id) VALUES ($1, 'layoffs', true, $2)"
        await readers.pool.execute(statement, collection, readers.organisation)
        join = "INSERT INTO collection_runs (collection_id, run_id, organisation_id) VALUES ($1, $2, $3)"
        await readers.pool.execute(join, collection, compared, readers.organisation)
    elif what == "a tenant":
        query = ResearchQuery(question="Why duties?", tenant="t").model_dump_json()
        await readers.pool.execute("UPDATE runs SET query = $2 WHERE id = $1", compared, query)
    elif what == "a quote of a file":
        await change_finding(readers, compared, quotes=(Quote(source=FILE, text=TEXT[:22], start=0, end=22),))
    else:
        source = FILE if what == "a passage of a file" else FILE.model_copy(update={"kind": "tool", "url": "mcp://hr/staff#1"})
        name = f"{FOREIGN_PREFIX}hr_staff" if what == "a foreign tool" else "search"
        result = ToolResult(passages=(PASSAGE.model_copy(update={"source": source}),) if name == "search" else ())
        turn = use_tool(0, "own", result, name).model_copy(update={"agent": "search/s2"})
        await store_turns(readers, compared, "search/s2", turn)
    manifest = await readers.export(tmp_path / "x", evidence=True)
    assert manifest.evidence_left_out == {"own_documents": 1}
    assert (tmp_path / "x" / "evidence.jsonl").read_bytes() == b""
    assert len(rows(tmp_path / "x", "pairs.jsonl")) == 1


@pytest.mark.parametrize("what", ["a note", "an edited plan"])
async def test_evidence_with_words_of_a_person_stays(readers: Readers, compared: UUID, tmp_path: Path, what: str) -> None:
    """Who left a note or changed the plan is not stored: it may be somebody who did not agree."""
    if what == "a note":
        await readers.pool.execute("INSERT INTO notes (run_id, seq, text) VALUES ($1, 1000, 'Ask Bob Miller.')", compared)
    else:
        [first, *rest] = PLAN.subtasks
        worded = PLAN.model_copy(
            update={"subtasks": (first.model_copy(update={"question": "Bob Miller?", "added": True}), *rest)}
        )
        await readers.pool.execute("UPDATE runs SET plan = $2 WHERE id = $1", compared, worded.model_dump_json())
    manifest = await readers.export(tmp_path / "x", comments=True, evidence=True)
    assert manifest.evidence_left_out == {"readers_words": 1}
    assert (tmp_path / "x" / "evidence.jsonl").read_bytes() == b""


async def test_a_choice_that_may_still_change_brings_no_evidence(readers: Readers, compared: UUID, tmp_path: Path) -> None:
    await readers.pool.execute("UPDATE viewings SET revealed_at = NULL")
    await readers.export(tmp_path / "x", later=timedelta(), evidence=True)
    assert not rows(tmp_path / "x", "evidence.jsonl")
