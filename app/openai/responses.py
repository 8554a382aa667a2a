"""Routes of responses in background mode: ask, poll, stream, come back to a stream, cancel, delete."""

from typing import Annotated
from uuid import UUID

from litestar import Controller, delete, get, post
from litestar import Response as Reply
from litestar.openapi import ResponseSpec
from litestar.params import FromPath, JSONBody, QueryParameter
from litestar.response import Stream

from app.accounts.nouns.access import AccessScope
from app.database.engine import forbid_repetition
from app.domain.errors import Conflict
from app.domain.run import Run
from app.http.authentication import STREAMS, needs, require_scopes
from app.http.dependencies import (
    CurrentPrincipal,
    DeletingService,
    LiveService,
    ResponseDetailsService,
    RevisionsService,
    RunsService,
    SteeringService,
    SuggestionsService,
)
from app.openai.details import ResponseDetails
from app.openai.errors import error_responses
from app.openai.follow_ups import (
    FollowUpQuestion,
    ask_follow_up,
    find_follow_up,
    make_follow_up,
    stream_follow_up,
    stream_whole_follow_up,
)
from app.openai.ids import find_model, parse_response_id, response_id_of
from app.openai.objects import DeletedResponse, Response, StreamEvent
from app.openai.reading import read_response
from app.openai.requests import NewResponse
from app.openai.run_streams import STREAM_HEADERS, require_beginning, stream_frames, stream_whole
from app.openai.stream import ResponseStream
from app.reports.service.revisions import ReportRevisions
from app.reports.storage.reports import StoredReport
from app.runs.api.suggested_sources import choose_sources
from app.runs.schemas import NewRun
from app.runs.service.live_events import LiveEvents
from app.runs.service.runs import Runs
from app.runs.storage.events import LoggedEvent

JSON = "application/json"
# The description mentions the stream's own media type: Litestar describes one per status.
RESPONSE = ResponseSpec(Response, description="The response; a stream of events where `stream` is set.", generate_examples=False)
ResponseId = FromPath[str]
After = Annotated[
    int | None, QueryParameter(ge=0, le=2**53, description="With `stream`: only events whose sequence number is higher.")
]


class ResponsesController(Controller):
    """A response is a run, shown as OpenAI's Responses API shows one."""

    path = "/openai/v1/responses"
    tags = ("openai",)
    opt = needs(AccessScope.RUNS_READ, AccessScope.REPORTS_READ)

    @post(
        opt=needs(AccessScope.RUNS_WRITE, AccessScope.REPORTS_READ),
        status_code=200,
        media_type=JSON,
        responses={**error_responses(400, 402, 404, 409, 413), 200: RESPONSE},
    )
    async def create(
        self,
        data: JSONBody[NewResponse],
        runs: RunsService,
        live: LiveService,
        suggestions: SuggestionsService,
        revisions: RevisionsService,
        response_details: ResponseDetailsService,
        principal: CurrentPrincipal,
    ) -> Reply[bytes] | Stream:
        """Ask a question. With `background` the answer is the queued response, with `stream` its events, else all of it.

        With `previous_response_id` it is a further question (which needs `reports:write`), answered from stored evidence.
        """
        question, notes = data.to_question()
        details = data.to_details()
        model = find_model(data.model, runs.systems, data.reasoning.effort if data.reasoning else None)
        if details.previous is not None:
            require_scopes(principal, frozenset({AccessScope.REPORTS_WRITE}))
            await response_details.get(details.previous)
            asked = await ask_follow_up(runs, revisions, details.previous, question, details)
            return _answer_follow_up(data, live, revisions, asked, details)
        query = await choose_sources(NewRun(question=question, **model._asdict()), suggestions)
        run = await runs.create(query, notes, keep=response_details.in_transaction(details))
        if data.stream:
            return _stream(live, runs, run.id, details, None)
        if data.background:
            with forbid_repetition(f"run {run.id} is stored"):
                return await _answer_with(runs, run, details)

        async def render_answer() -> bytes:
            return (await read_response(runs, await runs.get(run.id), details)).model_dump_json().encode()

        return Stream(stream_whole(live, runs, run.id, render_answer), media_type=JSON)

    @get("/{response_id:str}", media_type=JSON, responses={**error_responses(400, 404, 409), 200: RESPONSE}, opt=STREAMS)
    async def show(
        self,
        response_id: ResponseId,
        runs: RunsService,
        live: LiveService,
        revisions: RevisionsService,
        response_details: ResponseDetailsService,
        stream: Annotated[bool, QueryParameter(description="Its events instead, past and to come.")] = False,
        starting_after: After = None,
    ) -> Reply[bytes] | Stream:
        """Return the response as it stands, or its events from a number on."""
        asked_for = parse_response_id(response_id)
        details = await response_details.get(asked_for)
        found = await find_follow_up(runs, revisions, asked_for)
        if isinstance(found, FollowUpQuestion):
            if not stream:
                return _reply_with(make_follow_up(found, details))
            return Stream(stream_follow_up(live, revisions, found, details, starting_after), headers=STREAM_HEADERS)
        if not stream:
            return await _answer_with(runs, found, details)
        await require_beginning(runs, found.id)
        return _stream(live, runs, found.id, details, starting_after)

    @post(
        "/{response_id:str}/cancel",
        opt=needs(AccessScope.RUNS_WRITE, AccessScope.RUNS_READ, AccessScope.REPORTS_READ),
        status_code=200,
        media_type=JSON,
        responses={**error_responses(404, 409), 200: RESPONSE},
    )
    async def cancel(
        self,
        response_id: ResponseId,
        runs: RunsService,
        steering: SteeringService,
        response_details: ResponseDetailsService,
    ) -> Reply[bytes]:
        """End the run for good. A response that was cancelled already stays as it is."""
        run_id = parse_response_id(response_id)
        details = await response_details.get(run_id)
        try:
            await steering.cancel(run_id)
        except Conflict:
            if (await runs.get(run_id)).status != "cancelled":
                raise
        return await _answer_with(runs, await runs.get(run_id), details)

    @delete(
        "/{response_id:str}",
        status_code=200,
        responses=error_responses(403, 404, 409),
        opt=needs(AccessScope.RUNS_WRITE),
    )
    async def remove(
        self,
        response_id: ResponseId,
        runs: RunsService,
        revisions: RevisionsService,
        response_details: ResponseDetailsService,
        deleting: DeletingService,
        principal: CurrentPrincipal,
    ) -> DeletedResponse:
        """Delete the response with its run, for good. A further question goes with the response that it follows."""
        asked_for = parse_response_id(response_id)
        await response_details.get(asked_for)
        found = await find_follow_up(runs, revisions, asked_for)
        if isinstance(found, FollowUpQuestion):
            first = response_id_of(found.run.id)
            raise Conflict(f"this is a further question about {first}: delete that response, and this one goes with it")
        await deleting.delete(principal, found.id)
        return DeletedResponse(id=response_id)


class _FramesAfter:
    """A fold that passes on the frames after a number."""

    def __init__(self, after: int | None, details: ResponseDetails) -> None:
        self._after = -1 if after is None else after
        self._events = ResponseStream(details)

    def advance(self, run: Run, event: LoggedEvent, report: StoredReport | None) -> list[bytes]:
        """Return the frames that one event of the log means."""
        told: list[StreamEvent] = self._events.advance(run, event, report)
        return [made.to_frame() for made in told if made.sequence_number > self._after]

    def break_off(self, run: Run) -> list[bytes]:
        """Return nothing: the client comes back with the last number it saw."""
        return []


def _stream(live: LiveEvents, runs: Runs, run_id: UUID, details: ResponseDetails, after: int | None) -> Stream:
    return Stream(stream_frames(live, runs, run_id, _FramesAfter(after, details)), headers=STREAM_HEADERS)


def _answer_follow_up(
    data: NewResponse, live: LiveEvents, revisions: ReportRevisions, asked: FollowUpQuestion, details: ResponseDetails
) -> Reply[bytes] | Stream:
    if data.stream:
        return Stream(stream_follow_up(live, revisions, asked, details, None), headers=STREAM_HEADERS)
    if data.background:
        return _reply_with(make_follow_up(asked, details))
    return Stream(stream_whole_follow_up(live, revisions, asked, details), media_type=JSON)


async def _answer_with(runs: Runs, run: Run, details: ResponseDetails) -> Reply[bytes]:
    return _reply_with(await read_response(runs, run, details))


def _reply_with(response: Response) -> Reply[bytes]:
    return Reply(response.model_dump_json().encode(), media_type=JSON)
