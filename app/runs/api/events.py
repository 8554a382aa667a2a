"""Serve the event stream of a run (server-sent events): `id` is the event's number, `event` its type, `data` its JSON."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from litestar import Controller, get
from litestar.openapi import ResponseSpec
from litestar.params import HeaderParameter, QueryParameter
from litestar.response import Stream

from app.accounts.nouns.access import AccessScope
from app.domain.run import RunEvent
from app.http.authentication import STREAMS, needs
from app.http.dependencies import CurrentPrincipal, LiveService, RunId, RunsService
from app.http.openapi.responses import problem_responses
from app.runs.service.live_events import LiveEvents
from app.runs.storage.events import LoggedEvent
from app.runs.storage.evidence import withhold_words

MEDIA_TYPE = "text/event-stream"
# Sent first, so that a client has its headers at once and knows how long to wait before it comes back (milliseconds).
OPENING = b"retry: 1000\n\n"
BEAT = b": still here\n\n"

STREAM = ResponseSpec(RunEvent, description="Events; each has this JSON as data.", media_type=MEDIA_TYPE, generate_examples=False)
Number = Annotated[int, QueryParameter(ge=0, description="Only events after this number.")]
LastSeen = Annotated[
    int | None,
    HeaderParameter(
        name="Last-Event-ID", ge=0, schema_extra={"minimum": 0}, description="Sent by a client that comes back; outranks `after`."
    ),
]


class EventsController(Controller):
    """Routes to watch a run."""

    path = "/v1/runs"
    tags = ("events",)
    opt = needs(AccessScope.RUNS_READ)

    @get("/{run_id:uuid}/events", media_type=MEDIA_TYPE, responses={**problem_responses(400, 404), 200: STREAM}, opt=STREAMS)
    async def follow(
        self,
        run_id: RunId,
        runs: RunsService,
        live: LiveService,
        principal: CurrentPrincipal,
        after: Number = 0,
        last_seen: LastSeen = None,
    ) -> Stream:
        """Stream the events of the run, from its beginning or after a number, then each new one; the stream ends with the run.

        Who may not read reports, or what this run gathered, gets its events without words of sources, queries and drafts.
        """
        await runs.get(run_id)
        start = after if last_seen is None else last_seen
        frames = _stream_frames(live, run_id, start, AccessScope.REPORTS_READ in principal.scopes)
        return Stream(frames, media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})


async def _stream_frames(live: LiveEvents, run_id: RunId, after: int, with_words: bool) -> AsyncIterator[bytes]:
    yield OPENING
    async with aclosing(live.watch(run_id, after)) as batches:
        async for batch in batches:
            told = batch if with_words else withhold_words(batch)
            yield b"".join(map(_encode_event, told)) if told else BEAT


def _encode_event(event: LoggedEvent) -> bytes:
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (event.seq, event.type.encode(), event.body)
