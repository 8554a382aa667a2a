"""A model server that loads adapters while it runs, as vLLM does. All say one thing, or what a test tells."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

ANSWER = '<answer>[{"title": "Sources", "description": "Key Criterion: names its sources", "weight": 5}]</answer>'
BASE = "base"


Speech = Callable[[str, Sequence[str]], str]
"""What a model of this name says to these messages."""


def say_rubric(model: str, messages: Sequence[str]) -> str:
    return ANSWER


@dataclass
class AdapterServer:
    """What the server has loaded, the models that were asked, and at which temperatures. `refuses`: it takes no adapter."""

    url: str = ""
    loaded: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    temperatures: set[float] = field(default_factory=set)
    refuses: str = ""
    speech: Speech = say_rubric


def count_words(*texts: str) -> int:
    return sum(len(text.split()) for text in texts)


@asynccontextmanager
async def serve_adapters() -> AsyncIterator[AdapterServer]:
    """Serve on a free port."""
    server = AdapterServer()

    async def load(request: web.Request) -> web.Response:
        body = await request.json()
        if server.refuses:
            return web.json_response({"message": server.refuses}, status=400)
        server.loaded[body["lora_name"]] = body["lora_path"]
        return web.Response(text="Success")

    async def unload(request: web.Request) -> web.Response:
        found = server.loaded.pop((await request.json())["lora_name"], None)
        return web.Response(text="Success", status=200 if found else 404)

    async def complete(request: web.Request) -> web.Response:
        body = await request.json()
        model = body["model"]
        server.asked.append(model)
        server.temperatures.add(body["temperature"])
        if model != BASE and model not in server.loaded:
            return web.json_response({"error": {"message": f"The model `{model}` does not exist."}}, status=404)
        messages = [message["content"] for message in body["messages"]]
        said = server.speech(model, messages)
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        usage = {"prompt_tokens": count_words(*messages), "completion_tokens": count_words(said)}
        return web.json_response({"model": model, "choices": [choice], "usage": usage})

    async def list_models(request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": name} for name in (BASE, *server.loaded)]})

    application = web.Application()
    application.router.add_get("/v1/models", list_models)
    application.router.add_post("/v1/load_lora_adapter", load)
    application.router.add_post("/v1/unload_lora_adapter", unload)
    application.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield server
    finally:
        await runner.cleanup()
