"""The policy behind vLLM, which is given the trainer's adapter before each generation. The server sees the run's folder."""

import asyncio
import logging
import shutil
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp

from app.domain.errors import ModelUnavailable
from training.recipes.reinforcement.policy_source import NAME
from training.rollouts.engine import Engine
from training.rollouts.vllm_engine import VLLMEngine, connect_vllm
from workflows.chat_models.endpoint import ModelEndpoint

OK = 200
logger = logging.getLogger(__name__)


class ServedPolicy:
    """Adapters that a vLLM server loads, one after the other, each under a name and in a folder of its own.

    vLLM keeps what it computed of a prompt by the adapter's name and path, and reads an adapter that was loaded in place again at
    each request: under one name, new weights would go on from what old ones computed. Answers under way are finished by the
    weights that began them. `save_adapter` writes the trainer's adapter into a folder; the `kept` newest stay loaded.

    Raises (from `give_weights`):
        ModelUnavailable: the server does not take the adapter.
    """

    def __init__(self, url: str, folder: Path, save_adapter: Callable[[Path], None], kept: int = 2) -> None:
        self._endpoint = ModelEndpoint(base_url=url, model=NAME)
        self._folder, self._save_adapter, self._kept = folder, save_adapter, kept
        # A server may still have the adapters of a run that was killed.
        self._run, self._made = uuid4().hex[:8], 0
        self._loaded: deque[str] = deque()
        self._version = 0
        self._engine: VLLMEngine | None = None

    def give_weights(self, version: int) -> None:
        """Save the adapter, have the server load it, and take out what is too old."""
        self._loaded.append(self._load_adapter())
        self._version = version
        if self._engine is not None:
            self._engine.use_adapter(self._loaded[-1], version)
        while len(self._loaded) > self._kept:
            self._unload_adapter(self._loaded.popleft())

    @asynccontextmanager
    async def open_engine(self) -> AsyncIterator[Engine]:
        """Open the engine of the collector. When it is closed, the server has none of the adapters any more."""
        try:
            async with connect_vllm(self._endpoint) as self._engine:
                self._engine.use_adapter(self._loaded[-1], self._version)
                yield self._engine
        finally:
            while self._loaded:
                await asyncio.to_thread(self._unload_adapter, self._loaded.popleft())

    @asynccontextmanager
    async def open_validator(self) -> AsyncIterator[Engine]:
        """Open an engine over the trained weights, which the server loads for this."""
        adapter = await asyncio.to_thread(self._load_adapter)
        try:
            async with connect_vllm(self._endpoint) as engine:
                engine.use_adapter(adapter, self._version)
                yield engine
        finally:
            await asyncio.to_thread(self._unload_adapter, adapter)

    def _load_adapter(self) -> str:
        self._made += 1
        adapter = f"{NAME}-{self._run}-{self._made}"
        self._save_adapter(self._folder / adapter)
        status, said = asyncio.run(
            self._post("load_lora_adapter", {"lora_name": adapter, "lora_path": str((self._folder / adapter).resolve())})
        )
        if status != OK:
            raise ModelUnavailable(f"{self._endpoint.base_url} does not take the adapter: {said[:200]}")
        return adapter

    def _unload_adapter(self, adapter: str) -> None:
        try:
            status, said = asyncio.run(self._post("unload_lora_adapter", {"lora_name": adapter}))
        except ModelUnavailable as error:
            status, said = 0, str(error)
        if status != OK:
            logger.warning("%s keeps the adapter %s: %s", self._endpoint.base_url, adapter, said[:200])
        shutil.rmtree(self._folder / adapter)

    async def _post(self, what: str, body: dict[str, Any]) -> tuple[int, str]:
        url = f"{self._endpoint.base_url.rstrip('/')}/{what}"
        try:
            async with aiohttp.ClientSession() as session, session.post(url, json=body) as response:
                return response.status, await response.text()
        except (aiohttp.ClientError, OSError) as error:
            raise ModelUnavailable(f"no answer from {url}: {error}") from error
