"""Follow a run until it stops, for streams and for clients that wait for the whole answer.

Bytes are sent at every event and after every quiet time, so that no proxy or client takes a long run for a dead connection.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Protocol
from uuid import UUID

from app.domain.errors import Conflict
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


class Fold(Protocol):
    """The protocol that turns a log into what a client reads."""

    def advance(self, run: Run, event: LoggedEvent, report: StoredReport | None) -> Sequence[bytes]:
        """Return the frames that one event of the log means."""
        ...

    def break_off(self, run: Run) -> Sequence[bytes]:
        """Return the frames that end the answer where the server leaves off following the run."""
        ...


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
    run = await runs.get(run_id)
    yield BEAT
    async with aclosing(live.watch(run_id, 0)) as batches:
        async for batch in batches:
            made: list[bytes] = []
            for event in batch:
                if event.type == EventType.STATUS_CHANGED:
                    run = await runs.get(run_id)
                report = await report_of(runs, run_id) if event.type == EventType.REPORT_READY else None
                made += fold.advance(run, event, report)
            yield b"".join(made) or BEAT
            if batch and await _has_stopped(runs, run_id, batch):
                return
    yield b"".join(fold.break_off(run)) or BEAT


async def stream_whole(
    live: LiveEvents, runs: Runs, run_id: UUID, answer: Callable[[], Awaitable[bytes]]
) -> AsyncIterator[bytes]:
    """Yield the answer when the run has stopped, and white space until then, which keeps the connection alive.

    Where the server shuts down before, the answer is the run as it stands.
    """
    async with aclosing(live.watch(run_id, 0)) as batches:
        async for batch in batches:
            yield BLANK
            if batch and await _has_stopped(runs, run_id, batch):
                break
    yield await answer()


async def _has_stopped(runs: Runs, run_id: UUID, batch: Sequence[LoggedEvent]) -> bool:
    """Return True when the run has stopped in this batch until somebody mends what stops it, and nobody has yet."""
    changed = any(event.type == EventType.STATUS_CHANGED for event in batch)
    return changed and waits_for_mending(await runs.get(run_id))
