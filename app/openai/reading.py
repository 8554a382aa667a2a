"""Read a run as a response."""

from collections.abc import Iterable, Sequence
from itertools import takewhile
from uuid import UUID

import orjson

from app.domain.errors import NotFound
from app.domain.run import EventType, Run, RunStatus
from app.openai import ids
from app.openai.citations import find_citations
from app.openai.conversation import EARLIER
from app.openai.details import ResponseDetails
from app.openai.objects import (
    IncompleteDetails,
    ItemStatus,
    OutputItem,
    OutputMessage,
    OutputText,
    ReasoningItem,
    Response,
    ResponseError,
    ResponseStatus,
    ResponseUsage,
    SummaryText,
)
from app.openai.progress import describe_event
from app.reports.storage.reports import StoredReport
from app.runs.service.runs import Runs
from app.runs.storage.events import LoggedEvent

# A paused run continues when the person who paused it says so; one at its budget needs more, which a client should learn.
STATUSES: dict[RunStatus, ResponseStatus] = {
    RunStatus.QUEUED: "queued",
    RunStatus.BUDGET_REACHED: "incomplete",
    RunStatus.COMPLETED: "completed",
    RunStatus.FAILED: "failed",
    RunStatus.CANCELLED: "cancelled",
}
# Instructions are a note that is stored before anything else happens.
INSTRUCTIONS_SEQ = 2


def waits_for_mending(run: Run) -> bool:
    """Whether the run goes on only when somebody raises its budget or sets its model right."""
    return run.status is RunStatus.BUDGET_REACHED or (run.status is RunStatus.PAUSED and run.reason is not None)


def has_stopped(run: Run) -> bool:
    """Whether the run has ended, or goes on only when somebody mends what stops it."""
    return run.status.finished or waits_for_mending(run)


def status_of(status: RunStatus) -> ResponseStatus:
    """Return the name of this status in OpenAI's API."""
    return STATUSES.get(status, "in_progress")


def make_response(
    run: Run,
    status: RunStatus,
    details: ResponseDetails,
    detail: str = "",
    output: Sequence[OutputItem] = (),
    instructions: str | None = None,
    reason: str | None = None,
) -> Response:
    """Return the run as it was when it had this status, for this reason."""
    stopped = status is RunStatus.PAUSED and reason is not None
    named = "incomplete" if stopped else status_of(status)
    return Response(
        id=ids.response_id_of(run.id),
        created_at=int(run.created_at.timestamp()),
        completed_at=int(run.finished_at.timestamp()) if named == "completed" and run.finished_at else None,
        status=named,
        model=ids.model_of(run),
        output=list(output),
        error=ResponseError(message=detail or run.detail or "the research failed") if stopped or named == "failed" else None,
        incomplete_details=IncompleteDetails() if named == "incomplete" and not stopped else None,
        instructions=instructions,
        metadata=details.metadata,
        store=details.retrievable,
        usage=ResponseUsage.of(run.usage) if status.finished else None,
    )


async def read_response(runs: Runs, run: Run, details: ResponseDetails) -> Response:
    """Return the run as it stands. Its output is shown when it has finished."""
    if not run.status.finished:
        first = await runs.read_events(run.id, INSTRUCTIONS_SEQ - 1, 1)
        return make_response(run, run.status, details, instructions=instructions_in(first), reason=run.reason)
    log = await read_log(runs, run.id)
    output: list[OutputItem] = []
    if lines := _lines_in(log, run):
        output.append(reasoning_of(run.id, lines, "completed"))
    if run.status is RunStatus.COMPLETED and (report := await report_of(runs, run.id)) is not None:
        output.append(message_of(run.id, report))
    return make_response(run, run.status, details, run.detail, output, instructions_in(log))


async def report_of(runs: Runs, run_id: UUID) -> StoredReport | None:
    """Return the run's report, or None."""
    try:
        return await runs.get_report(run_id)
    except NotFound:
        return None


async def read_log(runs: Runs, run_id: UUID) -> list[LoggedEvent]:
    """Return all events of a run so far."""
    log: list[LoggedEvent] = []
    while page := await runs.read_events(run_id, log[-1].seq if log else 0):
        log += page
    return log


async def lines_of(runs: Runs, run: Run) -> list[str]:
    """Return the steps of the work until there was a report, one line each."""
    return _lines_in(await read_log(runs, run.id), run)


def _lines_in(log: Iterable[LoggedEvent], run: Run) -> list[str]:
    before = takewhile(lambda event: event.type != EventType.REPORT_READY, log)
    told = (describe_event(event.type, orjson.loads(event.body)["payload"], run.query.language) for event in before)
    return [line for line in told if line is not None]


def instructions_in(log: Iterable[LoggedEvent]) -> str | None:
    """Return the instructions that a run was asked with."""
    for event in log:
        if event.seq == INSTRUCTIONS_SEQ and event.type == EventType.NOTE_ADDED:
            text = str(orjson.loads(event.body)["payload"]["text"])
            return None if text.startswith(EARLIER) else text
    return None


def reasoning_of(run_id: UUID, lines: Iterable[str], status: ItemStatus) -> ReasoningItem:
    """Return the steps of the work as an output item."""
    return ReasoningItem(id=f"rs_{run_id.hex}", summary=[SummaryText(text=line) for line in lines], status=status)


def message_of(run_id: UUID, report: StoredReport) -> OutputMessage:
    """Return the report with its citations as an output item."""
    text = OutputText(text=report.markdown, annotations=find_citations(report))
    return OutputMessage(id=f"msg_{run_id.hex}", status="completed", content=[text])
