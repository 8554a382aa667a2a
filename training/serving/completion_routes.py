"""The routes that sample: `POST /v1/chat/completions`, and `POST /v1/completions` over token ids."""

import asyncio
from collections.abc import Sequence

from aiohttp import web

from app.domain.errors import InvalidInput, RubricaError
from retrieval.service.json_http import answer_json
from training.rollouts.engine import Sample, SamplingSettings
from training.serving.answer_text import AnswerText
from training.serving.answers import (
    DONE,
    AnswerHead,
    count_usage,
    make_choice,
    make_completion,
    make_continuation,
    write_event,
)
from training.serving.errors import describe_error
from training.serving.requests import ChatBody, TokensBody, read_request
from training.serving.served_models import ServedModel, ServedModels


class CompletionRoutes:
    """The routes of completions. A request keeps the model that it began with."""

    def __init__(self, models: ServedModels) -> None:
        self._models = models

    def list_routes(self) -> list[web.RouteDef]:
        """Return the routes with their handlers."""
        return [web.post("/v1/chat/completions", self.answer), web.post("/v1/completions", self.continue_ids)]

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer a conversation, at once or as a stream."""
        body = await read_request(request, ChatBody)
        body.check()
        with self._models.find(body.model).use() as served:
            prompt = served.format.template.encode_opening(body.messages)
            most = served.find_room(len(prompt), body.most)
            if body.stream:
                return await _stream_answer(request, body, served, prompt, most)
            text = AnswerText(served.format, body.stop, lambda _: None)
            sample = await _sample_answer(body, served, prompt, most, text)
            return answer_json(make_completion(body, served, prompt, sample, text))

    async def continue_ids(self, request: web.Request) -> web.StreamResponse:
        """Continue token ids."""
        body = await read_request(request, TokensBody)
        with self._models.find(body.model).use() as served:
            if max(body.prompt) >= len(served.format.tokenizer):
                raise InvalidInput("Token id out of vocabulary")
            most = served.find_room(len(body.prompt), body.max_tokens)
            ends = (*body.stop_token_ids, *(() if body.ignore_eos else (served.format.stop_id,)))
            settings = SamplingSettings(ends or (served.format.stop_id,), body.temperature, body.top_p)
            sample = await served.engine.sample(body.prompt, most, settings, body.seed)
            return answer_json(make_continuation(body, served, sample))


async def _sample_answer(body: ChatBody, served: ServedModel, prompt: Sequence[int], most: int, text: AnswerText) -> Sample:
    stop_id = served.format.stop_id
    settings = SamplingSettings((stop_id,), body.temperature, body.top_p)
    sample = await served.engine.sample(prompt, most, settings, body.seed, text.follow)
    text.end(sample.ids[:-1] if sample.ids[-1] == stop_id else sample.ids)
    return sample


async def _stream_answer(
    request: web.Request, body: ChatBody, served: ServedModel, prompt: Sequence[int], most: int
) -> web.StreamResponse:
    """Send an answer while it is sampled. A caller who goes away ends it."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    await response.prepare(request)
    head, loop, pieces = AnswerHead(body.model), asyncio.get_running_loop(), asyncio.Queue[str | None]()

    async def send(delta: dict[str, str]) -> None:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
        await response.write(write_event(head.write("chat.completion.chunk", [choice], None)))

    text = AnswerText(served.format, body.stop, lambda piece: loop.call_soon_threadsafe(pieces.put_nowait, piece))
    sampling = asyncio.create_task(_sample_answer(body, served, prompt, most, text))
    sampling.add_done_callback(lambda _: pieces.put_nowait(None))
    try:
        await send({"role": "assistant", "content": ""})
        while (piece := await pieces.get()) is not None:
            await send({"content": piece})
        sample = await sampling
    except RubricaError as error:
        await response.write(write_event(describe_error(error)[1]))
    else:
        last = make_choice(sample, text, "delta", {})
        await response.write(write_event(head.write("chat.completion.chunk", [last], None)))
        if body.stream_options and body.stream_options.include_usage:
            await response.write(write_event(head.write("chat.completion.chunk", [], count_usage(prompt, sample))))
    finally:
        sampling.cancel()
    await response.write_eof(DONE)
    return response
