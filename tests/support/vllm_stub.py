"""A small server of vLLM's completions protocol over a socket: the tokens are those of an engine in this process."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from training.rollouts.engine import Engine, SamplingSettings


@asynccontextmanager
async def serve_vllm(engine: Engine, context: int, end_ids: Sequence[int] = ()) -> AsyncIterator[str]:
    """Serve an engine as vLLM would, with the end tokens of the model's settings. Yield the base address."""

    async def complete(request: web.Request) -> web.Response:
        body = await request.json()
        asked = len(body["prompt"])
        if asked + body["max_tokens"] > context:
            said = f"This model's maximum context length is {context} tokens. However, you requested {asked} tokens"
            return web.json_response({"error": {"message": said, "type": "BadRequestError", "code": 400}}, status=400)
        ends = () if body.get("ignore_eos") else end_ids
        settings = SamplingSettings((*body["stop_token_ids"], *ends), body["temperature"], body["top_p"])
        sample = await engine.sample(body["prompt"], body["max_tokens"], settings, body.get("seed"))
        return web.json_response(make_answer(body, sample.ids, sample.logprobs, sample.finish))

    application = web.Application(client_max_size=1 << 24)
    application.router.add_post("/v1/completions", complete)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


def make_answer(body: dict[str, Any], ids: tuple[int, ...], logprobs: tuple[float, ...], finish: str) -> dict[str, Any]:
    """Return an answer in vLLM's form."""
    choice = {
        "index": 0,
        "text": "",
        "finish_reason": finish,
        "stop_reason": ids[-1] if finish == "stop" else None,
        "logprobs": {
            "tokens": [f"token_id:{i}" for i in ids],
            "token_logprobs": logprobs,
            "top_logprobs": None,
            "text_offset": [],
        },
        "token_ids": ids if body["return_token_ids"] else None,
        "prompt_token_ids": body["prompt"] if body["return_token_ids"] else None,
    }
    return {"id": "cmpl-1", "object": "text_completion", "created": 0, "model": body["model"], "choices": [choice]}
