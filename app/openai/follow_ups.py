"""A response that follows another is a further question to that one's run, answered from its stored evidence."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from app.database.engine import Executor
from app.domain.errors import Conflict
from app.domain.revision import ReportTask, TaskStatus
from app.domain.run import Run, RunStatus
from app.openai import ids
from app.openai.citations import cite_sources
from app.openai.details import KeptDetails, ResponseDetails
from app.openai.objects import OutputMessage, OutputText, Response, ResponseError, ResponseStatus, ResponseUsage, StreamEvent
from app.openai.run_streams import BEAT, BLANK, LOOK_AGAIN_S, read_unless_away
from app.openai.stream import list_message_events
from app.reports.schemas import answer_view_of
from app.reports.service.revisions import ReportRevisions
from app.runs.service.live_events import LiveEvents
from app.runs.service.runs import Runs

STATUSES: dict[TaskStatus, ResponseStatus] = {
    TaskStatus.QUEUED: "queued",
    TaskStatus.DONE: "completed",
    TaskStatus.FAILED: "failed",
}


class FollowUpQuestion(NamedTuple):
    """A further question, and the run that it was asked about."""

    run: Run
    task: ReportTask


async def find_follow_up(runs: Runs, revisions: ReportRevisions, response: UUID) -> Run | FollowUpQuestion:
    """Return what a response shows: a run, or a further question to one.

    Raises:
        NotFound: there is no such response.
    """
    task = await revisions.find_question(response)
    run = await runs.get(task.run_id if task else response)
    return FollowUpQuestion(run, task) if task else run


async def ask_follow_up(
    runs: Runs, revisions: ReportRevisions, previous: UUID, question: str, details: ResponseDetails
) -> FollowUpQuestion:
    """Ask the run of an earlier response a further question; its details are stored with it, or neither is.

    Raises:
        NotFound: there is no such response.
        Conflict: it is not completed.
        InvalidInput: the question is empty or too long.
        BudgetReached, TooManyRequests: nothing more may be spent.
    """
    found = await find_follow_up(runs, revisions, previous)
    run, done = (found.run, found.task.status is TaskStatus.DONE) if isinstance(found, FollowUpQuestion) else (found, True)
    if run.status is not RunStatus.COMPLETED or not done:
        raise Conflict(f"the response {ids.response_id_of(previous)} is not completed; only a completed one can be followed")

    async def keep(connection: Executor, task_id: UUID) -> None:
        await KeptDetails(connection).keep(task_id, run.id, details)

    return FollowUpQuestion(run, await revisions.ask(run.id, question, keep))


def make_follow_up(asked: FollowUpQuestion, details: ResponseDetails) -> Response:
    """Return a further question, as it stands, as a response."""
    run, task = asked
    status = STATUSES[task.status]
    return Response(
        id=ids.response_id_of(task.id),
        created_at=int(task.created_at.timestamp()),
        completed_at=int(task.finished_at.timestamp()) if status == "completed" and task.finished_at else None,
        status=status,
        model=ids.model_of(run),
        output=[_make_message(task)] if task.answer else [],
        error=ResponseError(message=task.detail or "the question could not be answered") if status == "failed" else None,
        metadata=details.metadata,
        previous_response_id=ids.response_id_of(details.previous) if details.previous else None,
        store=details.retrievable,
        usage=ResponseUsage.of(task.usage) if task.finished_at else None,
    )


async def stream_follow_up(
    live: LiveEvents, revisions: ReportRevisions, asked: FollowUpQuestion, details: ResponseDetails, after: int | None
) -> AsyncIterator[bytes]:
    """Yield the events of a further question with numbers above `after`, until it is answered, or the server shuts down."""
    told = -1 if after is None else after
    while True:
        new = [event for event in list_events(asked, details) if event.sequence_number > told]
        yield b"".join(event.to_frame() for event in new) or BEAT
        told += len(new)
        if asked.task.finished_at is not None or live.has_stopped:
            return
        asked = await _look_again(revisions, asked)


async def stream_whole_follow_up(
    live: LiveEvents, revisions: ReportRevisions, asked: FollowUpQuestion, details: ResponseDetails
) -> AsyncIterator[bytes]:
    """Yield the response when the question is answered, and white space until then, which keeps the connection alive.

    Where the server shuts down before, the response is queued still: the client polls it.
    """
    while asked.task.finished_at is None and not live.has_stopped:
        yield BLANK
        asked = await _look_again(revisions, asked)
    yield make_follow_up(asked, details).model_dump_json().encode()


def list_events(asked: FollowUpQuestion, details: ResponseDetails) -> list[StreamEvent]:
    """Return all events of a further question so far: the same for the same question, in any process."""
    return [
        StreamEvent(type=name, sequence_number=number, **fields)
        for number, (name, fields) in enumerate(_read_task(asked, details))
    ]


def _read_task(asked: FollowUpQuestion, details: ResponseDetails) -> Iterator[tuple[str, dict[str, Any]]]:
    task = asked.task
    begun = task.model_copy(update={"status": TaskStatus.QUEUED, "answer": None, "finished_at": None})
    for name in ("response.created", "response.queued"):
        yield name, {"response": make_follow_up(asked._replace(task=begun), details)}
    if task.answer is not None:
        yield from list_message_events(_make_message(task), 0)
    if task.finished_at is not None:
        whole = make_follow_up(asked, details)
        yield f"response.{whole.status}", {"response": whole}


def _make_message(task: ReportTask) -> OutputMessage:
    view = answer_view_of(task)
    sources = {cited["n"]: cited["source"] for cited in view.citations}
    text = OutputText(text=view.markdown, annotations=cite_sources(view.markdown, sources))
    return OutputMessage(id=f"msg_{task.id.hex}", status="completed", content=[text])


async def _look_again(revisions: ReportRevisions, asked: FollowUpQuestion) -> FollowUpQuestion:
    await asyncio.sleep(LOOK_AGAIN_S)
    task = await read_unless_away(partial(revisions.get_task, asked.run.id, asked.task.id))
    return asked._replace(task=task or asked.task)
