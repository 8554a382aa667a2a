"""Follow a run until it stops, for streams and for clients that wait for the whole answer.

Bytes are sent at every event and after every quiet time, so that no proxy or client takes a long run for a dead connection.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from functools import partial
from typing import NamedTuple, Protocol, TypeVar
from uuid import UUID

import orjson

from app.domain.errors import Conflict, Unavailable
from app.domain.run import EventType, Run
from app.openai.reading import report_of, waits_for_mending
from app.reports.storage.reports import StoredReport
from app.runs.service.live_events import LiveEvents
from app.runs.service.runs import Runs
from app.runs.storage.events import LoggedEvent

# The type is set here because a handler's media type outranks its stream's.
STREAM_HEADERS = {"Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no"}
BEAT = b": still at work\n\n"
# White space before JSON means nothing to its reader.
BLANK = b"\n"
LOOK_AGAIN_S = 1.0
T = TypeVar("T")


class Fold(Protocol):
    """The protocol that turns a log into what a client reads."""

    def advance(self, run: Run, event: LoggedEvent, report: StoredReport | None) -> Sequence[bytes]:
        """Return the frames that one event of the log means."""
        ...

    def break_off(self, run: Run) -> Sequence[bytes]:
        """Return the frames that end the answer where the server leaves off following the run."""
        ...


class RunStep(NamedTuple):
    """Events of a run's log, the run as they left it, and its report where they say that it is ready."""

    events: Sequence[LoggedEvent]
    run: Run
    report: StoredReport | None = None


async def read_unless_away(read: Callable[[], Awaitable[T]]) -> T | None:
    """Return what is read; None while the database does not answer, which is waited out.

    An answer that breaks off is asked for again by its client, which makes a second run or question.
    """
    try:
        return await read()
    except Unavailable:
        return None


async def require_beginning(runs: Runs, run_id: UUID) -> None:
    """Check that the log's beginning is stored: streams are read from there.

    Raises:
        Conflict: it was deleted.
    """
    first = await runs.read_events(run_id, 0, 1)
    if not first or first[0].seq != 1:
        raise Conflict("the steps of this response are not kept any more; retrieve it without `stream`")


async def stream_frames(live: LiveEvents, runs: Runs, run_id: UUID, fold: Fold) -> AsyncIterator[bytes]:
    """Yield the fold's frames as the log grows, until the run has finished or waits for somebody to mend what stops it.

    Where the server shuts down before, the fold says so.
    """
    async with aclosing(_follow_run(live, runs, run_id)) as steps:
        async for step in steps:
            yield b"".join(_read_frames(fold, step)) or BEAT
    yield b"".join(fold.break_off(step.run)) or BEAT


async def stream_whole(
    live: LiveEvents, runs: Runs, run_id: UUID, answer: Callable[[], Awaitable[bytes]]
) -> AsyncIterator[bytes]:
    """Yield the answer when the run has stopped, and white space until then, which keeps the connection alive.

    Where the server shuts down before, the answer is the run as it stands.
    """
    async with aclosing(_follow_run(live, runs, run_id)) as steps:
        async for _ in steps:
            yield BLANK
    while (whole := await read_unless_away(answer)) is None:
        yield BLANK
        await asyncio.sleep(LOOK_AGAIN_S)
    yield whole


async def _follow_run(live: LiveEvents, runs: Runs, run_id: UUID) -> AsyncGenerator[RunStep, None]:
    """Yield what is new until the run stops; steps without events first, in quiet times, and while the database is away."""
    run = await runs.get(run_id)
    yield RunStep((), run)
    async with aclosing(live.watch(run_id, 0)) as batches:
        async for batch in batches:
            while (step := await read_unless_away(partial(_read_step, runs, run, batch))) is None:
                yield RunStep((), run)
                await asyncio.sleep(LOOK_AGAIN_S)
            run = step.run
            yield step
            if waits_for_mending(run) and _tells_status(batch, run):
                return


async def _read_step(runs: Runs, run: Run, batch: Sequence[LoggedEvent]) -> RunStep:
    types = {event.type for event in batch}
    if EventType.STATUS_CHANGED in types:
        run = await runs.get(run.id)
    return RunStep(batch, run, await report_of(runs, run.id) if EventType.REPORT_READY in types else None)


def _tells_status(batch: Sequence[LoggedEvent], run: Run) -> bool:
    """Whether these events end with the run's status. After an outage, the run may be ahead of them."""
    changes = [event for event in batch if event.type == EventType.STATUS_CHANGED]
    return bool(changes) and orjson.loads(changes[-1].body)["payload"]["status"] == run.status


def _read_frames(fold: Fold, step: RunStep) -> Iterator[bytes]:
    for event in step.events:
        yield from fold.advance(step.run, event, step.report if event.type == EventType.REPORT_READY else None)
