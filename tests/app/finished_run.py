"""Writes a finished run, with a log and a report as workers write them."""

import hashlib
from uuid import UUID

from app.database.engine import Executor
from app.domain.budget import Usage
from app.domain.evidence import Quote, Source
from app.domain.plan import ResearchPlan, Subtask
from app.domain.report import Report, Section
from app.domain.run import EventType, RunStatus
from app.reports.rendering import render
from app.runs.storage import runs
from app.runs.storage.run_log import RunLog

TEXT = "Duties are the principal source of our revenue. A tax is a burden. \U0001f600 Ça va."
HASH = hashlib.sha256(TEXT.encode()).hexdigest()
URL = "https://example.org/messages/1887"
SUBTASK = {"question": "What was said?", "purpose": "It is asked.", "expected_evidence": "Messages."}


def make_quote(text: str) -> Quote:
    """Make a quotation from the one source."""
    start = TEXT.index(text)
    source = Source(url=URL, title="Third annual message [1]", snapshot=HASH)
    return Quote(source=source, text=text, start=start, end=start + len(text))


def make_report() -> Report:
    """Make a report with two quotes, cited three times over two sections; the first stands after characters beyond the BMP."""
    first, second = make_quote("Duties are the principal source of our revenue."), make_quote("A tax is a burden.")
    sections = (
        Section(
            heading="Revenue \U0001f600",
            body=f"Duties \U0001f600 paid [7] the state [[{first.key}]].\n\nThey weighed [[{second.key}]].",
        ),
        Section(heading="Again", body="x" * 3_000 + f" and so on [[{first.key}]]."),
    )
    return Report(title="Tariffs [3]", sections=sections, quotes=(first, second))


async def write_begin(run_log: RunLog, run_id: UUID) -> None:
    """Write a plan, a search and a warning."""
    plan = ResearchPlan(title="Tariffs", subtasks=(Subtask(id="s1", title="Revenue", **SUBTASK),))
    await run_log.save_plan(run_id, plan, (), EventType.PLAN_MADE)
    call = {"tool": "search", "query": "tariff", "results": 8, "sources": [], "error": ""}
    await run_log.append_event(run_id, EventType.TOOL_CALL, "search/s1", call)
    await run_log.append_event(run_id, EventType.MODEL_CALL, "search/s1", {"step": "act", "model": "m"})
    await run_log.append_event(run_id, EventType.WARNING, "search/s1", {"message": "one source was withheld"})


async def write_end(database: Executor, run_log: RunLog, run_id: UUID) -> None:
    """Write the report, and end the run."""
    await database.execute("UPDATE ledgers SET input_tokens = 900, output_tokens = 100 WHERE run_id = $1", run_id)
    run = await runs.get(database, run_id)
    assert run is not None
    assert run.usage == Usage(input_tokens=900, output_tokens=100)
    done = render(make_report(), run)
    await run_log.save_report(run_id, make_report(), done.renderings, done.evidence, done.told)
    await run_log.set_status(run_id, RunStatus.COMPLETED)
