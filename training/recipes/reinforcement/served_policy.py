"""The policy behind vLLM, which is given the trainer's adapter before each generation. The server sees the run's folder."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from app.domain.errors import ModelUnavailable
from training.recipes.reinforcement.policy_source import NAME
from training.rollouts.engine import Engine
from training.rollouts.vllm_engine import VLLMEngine, connect_vllm
from workflows.chat_models.endpoint import ModelEndpoint

OK = 200


class ServedPolicy:
    """An adapter that a vLLM server loads in the place of the one before.

    `save_adapter` writes the trainer's adapter into a folder. Answers that are under way go on with the new weights; their
    rollouts count by the version with which they began.

    Raises (from `give_weights`):
        ModelUnavailable: the server does not take the adapter.
    """

    def __init__(self, url: str, folder: Path, save_adapter: Callable[[Path], None]) -> None:
        self._endpoint = ModelEndpoint(base_url=url, model=NAME)
        self._folder, self._save_adapter = folder, save_adapter
        self._version = 0
        self._engine: VLLMEngine | None = None

    def give_weights(self, version: int) -> None:
        """Save the adapter and have the server load it."""
        self._save_adapter(self._folder)
        asyncio.run(self._load_adapter())
        self._version = version
        if self._engine is not None:
            self._engine.policy_version = version

    @asynccontextmanager
    async def open_engine(self) -> AsyncIterator[Engine]:
        """Open the engine of the collector."""
        async with connect_vllm(self._endpoint, self._version) as self._engine:
            yield self._engine

    @asynccontextmanager
    async def open_validator(self) -> AsyncIterator[Engine]:
        """Open an engine over the trained weights, which the server loads first."""
        await asyncio.to_thread(self.give_weights, self._version)
        async with connect_vllm(self._endpoint, self._version) as engine:
            yield engine

    async def _load_adapter(self) -> None:
        url = f"{self._endpoint.base_url.rstrip('/')}/load_lora_adapter"
        body = {"lora_name": NAME, "lora_path": str(self._folder.resolve()), "load_inplace": True}
        try:
            async with aiohttp.ClientSession() as session, session.post(url, json=body) as response:
                said = await response.text()
        except (aiohttp.ClientError, OSError) as error:
            raise ModelUnavailable(f"no answer from {url}: {error}") from error
        if response.status != OK:
            raise ModelUnavailable(f"{url} does not take the adapter: {said[:200]}")
