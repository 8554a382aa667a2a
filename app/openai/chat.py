"""Routes of Chat Completions: a conversation whose last message is researched."""

import time
from uuid import UUID, uuid4

from litestar import Controller, post
from litestar import Response as Reply
from litestar.openapi import ResponseSpec
from litestar.params import JSONBody
from litestar.response import Stream

from app.accounts.nouns.access import AccessScope
from app.domain.budget import Usage
from app.domain.run import RunStatus
from app.http.authentication import needs
from app.http.dependencies import LiveService, ResponseDetailsService, RunsService, SuggestionsService
from app.openai import ids
from app.openai.chat_objects import (
    ChatChoice,
    ChatChunk,
    ChatCitation,
    ChatCompletion,
    ChatDelta,
    ChatMessage,
    ChatUsage,
    ChunkChoice,
    FinishReason,
)
from app.openai.chat_stream import DONE, ChatStream, explain_no_report
from app.openai.citations import find_citations
from app.openai.details import ResponseDetails
from app.openai.errors import error_responses
from app.openai.reading import has_stopped, lines_of, report_of
from app.openai.requests import NewChatCompletion
from app.openai.run_streams import STREAM_HEADERS, stream_frames, stream_whole
from app.runs.api.suggested_sources import choose_sources
from app.runs.schemas import NewRun
from app.runs.service.runs import Runs

JSON = "application/json"
STOP: FinishReason = "stop"
COMPLETION = ResponseSpec(ChatCompletion, description="The completion; its parts where `stream` is set.", generate_examples=False)


class ChatController(Controller):
    """A completion waits for a run, and shows it as OpenAI's Chat Completions do."""

    path = "/openai/v1/chat"
    tags = ("openai",)
    opt = needs(AccessScope.RUNS_WRITE, AccessScope.REPORTS_READ)

    @post("/completions", status_code=200, media_type=JSON, responses={**error_responses(400, 404, 413), 200: COMPLETION})
    async def complete(
        self,
        data: JSONBody[NewChatCompletion],
        runs: RunsService,
        live: LiveService,
        suggestions: SuggestionsService,
        response_details: ResponseDetailsService,
    ) -> Reply[bytes] | Stream:
        """Ask, and wait for the report, or follow the work with `stream`. The run continues when the client disconnects."""
        model = ids.find_model(data.model, runs.systems, data.reasoning_effort)
        if (own := data.find_own_answer()) is not None:
            return _answer_at_once(data, model.id, own)
        question, notes = data.to_question()
        query = await choose_sources(NewRun(question=question, **model._asdict()), suggestions)
        kept = ResponseDetails(metadata=data.metadata or {}, retrievable=data.store is not False)
        run = await runs.create(query, notes, keep=response_details.in_transaction(kept))
        if data.stream:
            fold = ChatStream(data.stream_options is not None and data.stream_options.include_usage)
            return Stream(stream_frames(live, runs, run.id, fold), headers=STREAM_HEADERS)

        async def render_answer() -> bytes:
            return (await _make_completion(runs, run.id)).model_dump_json().encode()

        return Stream(stream_whole(live, runs, run.id, render_answer), media_type=JSON)


def _answer_at_once(data: NewChatCompletion, model: str, text: str) -> Reply[bytes] | Stream:
    """Answer what a client asks for itself. No run is made, and nothing is billed."""
    name, now, usage = f"chatcmpl-{uuid4().hex}", int(time.time()), ChatUsage.of(Usage())
    if data.stream:
        deltas = (ChatDelta(role="assistant", content=text), None), (ChatDelta(), STOP)
        chunks = [
            ChatChunk(id=name, created=now, model=model, choices=[ChunkChoice(delta=delta, finish_reason=reason)])
            for delta, reason in deltas
        ]
        if data.stream_options is not None and data.stream_options.include_usage:
            chunks.append(ChatChunk(id=name, created=now, model=model, choices=[], usage=usage))
        return Stream(iter([*(chunk.to_frame() for chunk in chunks), DONE]), headers=STREAM_HEADERS)
    choice = ChatChoice(message=ChatMessage(content=text), finish_reason=STOP)
    whole = ChatCompletion(id=name, created=now, model=model, choices=[choice], usage=usage)
    return Reply(whole.model_dump_json().encode(), media_type=JSON)


async def _make_completion(runs: Runs, run_id: UUID) -> ChatCompletion:
    """Return the run as it stands: with its report, or with the reason why there is none."""
    run = await runs.get(run_id)
    report = await report_of(runs, run_id) if run.status is RunStatus.COMPLETED else None
    cut = run.status is RunStatus.BUDGET_REACHED or not has_stopped(run)
    message = ChatMessage(
        content=report.markdown if report else None,
        refusal=None if report else explain_no_report(run, run.status, run.detail),
        reasoning_content="\n".join(await lines_of(runs, run)) or None,
        annotations=[ChatCitation.of(citation) for citation in find_citations(report)] if report else [],
    )
    return ChatCompletion(
        id=f"chatcmpl-{run.id.hex}",
        created=int(run.created_at.timestamp()),
        model=ids.model_of(run),
        choices=[ChatChoice(message=message, finish_reason="length" if cut else "stop")],
        usage=ChatUsage.of(run.usage),
    )
