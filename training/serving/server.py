"""The server of a base model and its adapters: opening the models, the application, serving until a signal."""

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Literal

from aiohttp import web

from app.domain.errors import InvalidInput, SetupError
from retrieval.service.json_http import answer_json
from training.recipes.config import BaseModelSection
from training.recipes.policy import load_model
from training.serving.adapter_routes import AdapterRoutes
from training.serving.completion_routes import CompletionRoutes
from training.serving.errors import errors_as_vllm, guard
from training.serving.prompt_format import open_prompt_format
from training.serving.served_models import ServedModel, ServedModels, make_engine
from training.serving.shared_weights import SharedWeights
from workflows.chat_models.endpoint import ModelEndpoint

MAX_REQUEST_BYTES = 16 << 20
END_WITHIN = timedelta(minutes=10)
"""How long requests in hand may take to end after a signal."""
SPARE_THREADS = 4


@dataclass(frozen=True)
class ServingOptions:
    """What is served, and how. `max_model_len` 0: as many tokens as the base has positions. `key` empty: none is asked for."""

    folder: Path
    name: str
    loras: Mapping[str, Path] = field(default_factory=dict)
    host: str = "127.0.0.1"
    port: int = 0
    device: str = "cpu"
    dtype: Literal["float32", "bfloat16"] = "float32"
    template: Literal["own", "chatml"] = "own"
    max_model_len: int = 0
    max_loras: int = 8
    max_lora_rank: int = 64
    key: str = field(default="", repr=False)


def open_base(options: ServingOptions) -> tuple[ServedModel, SharedWeights]:
    """Load the base model.

    Raises:
        InvalidInput: the folder holds no model, or fewer positions than `max_model_len`.
        SetupError: its chat template changes earlier turns.
    """
    if not (options.folder / "config.json").is_file():
        raise InvalidInput(f"{options.folder} is no folder of a model: it has no config.json")
    format_ = open_prompt_format(options.folder, options.template)
    section = BaseModelSection(base=str(options.folder), template=options.template, dtype=options.dtype)
    model = load_model(section, section.base, options.dtype).to(options.device)
    positions = model.config.get_text_config().max_position_embeddings
    if options.max_model_len > positions:
        raise InvalidInput(f"--max-model-len {options.max_model_len} is more than the model's {positions} positions")
    weights = SharedWeights(model, options.max_lora_rank)
    engine = make_engine(options.name, weights, format_)
    return ServedModel(options.name, options.folder, format_, engine, options.max_model_len or positions), weights


def create_app(models: ServedModels, key: str = "") -> web.Application:
    """Make the application."""
    app = web.Application(middlewares=[errors_as_vllm, guard(key)], client_max_size=MAX_REQUEST_BYTES)

    async def tell_health(_: web.Request) -> web.Response:
        return answer_json({"status": "ok"})

    app.router.add_get("/health", tell_health)
    app.add_routes([*CompletionRoutes(models).list_routes(), *AdapterRoutes(models).list_routes()])
    return app


@asynccontextmanager
async def open_server(options: ServingOptions) -> AsyncIterator[str]:
    """Serve, and yield the address with `/v1`. At the end no new request comes in, and those in hand are answered.

    Raises:
        InvalidInput, SetupError: a folder or an option cannot be used, or the address is taken.
    """
    _require_key_outside(options)
    # Every model may have a batch that waits for its turn in a thread of its own.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(options.max_loras + SPARE_THREADS))
    models = ServedModels(*await asyncio.to_thread(open_base, options), options.max_loras)
    for name, folder in options.loras.items():
        await models.load(name, folder)
    async with listen(create_app(models, options.key), options.host, options.port) as address:
        yield address


@asynccontextmanager
async def listen(app: web.Application, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Listen at an address, and yield it with `/v1`.

    Raises:
        SetupError: the address cannot be had.
    """
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=END_WITHIN.total_seconds(), handler_cancellation=True)
    await runner.setup()
    try:
        await _bind(runner, host, port)
        yield f"http://{host}:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def serve(options: ServingOptions) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with open_server(options) as address:
        print(f"{options.name} is served at {address}", flush=True)
        await stop.wait()


async def _bind(runner: web.AppRunner, host: str, port: int) -> None:
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        raise SetupError(f"{host}:{port} cannot be served at: {error.strerror}") from error


def _require_key_outside(options: ServingOptions) -> None:
    if not options.key and not ModelEndpoint(f"http://{options.host}", options.name).on_this_machine:
        raise SetupError(f"{options.host} is reached from outside: name a key with --api-key-env")
