"""The base model and its adapters by the names that callers use. A name means one folder's content for good."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.domain.errors import ContextTooLong, InvalidInput, NotFound
from training.rollouts.transformers_engine import TransformersEngine
from training.serving.digest import check_name, digest_adapter
from training.serving.prompt_format import PromptFormat, choose_format
from training.serving.shared_weights import SharedWeights


@dataclass(eq=False)
class ServedModel:
    """A model that answers: the base (whose slot is empty and who has no parent), or an adapter."""

    name: str
    folder: Path
    format: PromptFormat
    engine: TransformersEngine
    max_model_len: int
    slot: str = ""
    parent: str | None = None
    created: int = field(default_factory=lambda: int(time.time()))
    _users: int = 0
    _unused: asyncio.Event = field(default_factory=asyncio.Event)

    @contextmanager
    def use(self) -> Iterator["ServedModel"]:
        """Keep the model until the request in hand has ended."""
        self._users += 1
        self._unused.clear()
        try:
            yield self
        finally:
            self._users -= 1
            if not self._users:
                self._unused.set()

    async def wait_until_unused(self) -> None:
        """Wait for the requests in hand."""
        if self._users:
            await self._unused.wait()

    def find_room(self, prompt: int, wanted: int | None) -> int:
        """Return the most tokens of an answer after so many of a prompt.

        Raises:
            ContextTooLong: there is no room for the wanted ones; the message is vLLM's.
        """
        room, most = self.max_model_len - prompt, wanted or 1
        if room < most:
            raise ContextTooLong(
                f"This model's maximum context length is {self.max_model_len} tokens. However, you requested {most} output "
                f"tokens and your prompt contains {prompt} input tokens, for a total of {prompt + most} tokens. "
                "Please reduce the length of the input prompt or the number of requested output tokens."
            )
        return wanted or room

    def describe(self) -> dict[str, Any]:
        """Return the model's entry in the list of models."""
        return {
            "id": self.name,
            "object": "model",
            "created": self.created,
            "owned_by": "rubrica",
            "root": str(self.folder),
            "parent": self.parent,
            "max_model_len": self.max_model_len,
        }


class ServedModels:
    """All models of a server. At most `most` adapters are in memory, those among them that end their last requests.

    Every request goes on with the model that it began with. Loads come one after the other, and hold up no answer.
    """

    def __init__(self, base: ServedModel, weights: SharedWeights, most: int) -> None:
        self._base = base
        self._weights = weights
        self._most = most
        self._served = {base.name: base}
        self._in_memory = 0
        self._digests: dict[str, str] = {}
        self._loading = asyncio.Lock()

    def find(self, name: str) -> ServedModel:
        """Return the model of a name. Raises `NotFound`, in vLLM's words."""
        if name not in self._served:
            raise NotFound(f"The model `{name}` does not exist.")
        return self._served[name]

    def describe_all(self) -> list[dict[str, Any]]:
        """Return the list of models, the base first."""
        return [served.describe() for served in self._served.values()]

    async def load(self, name: str, folder: Path) -> None:
        """Load an adapter under a name. Where this fails, nothing has changed.

        Raises:
            NotFound: the folder holds no adapter.
            InvalidInput: the name is taken, or was another folder's before; there are as many adapters as may be; the
                adapter does not fit the base.
        """
        async with self._loading:
            digest = await asyncio.to_thread(digest_adapter, folder)
            self._check(name, digest)
            self._in_memory += 1
            try:
                format_ = await asyncio.to_thread(choose_format, folder, self._base.format)
                slot = await asyncio.to_thread(self._weights.add, folder)
            except BaseException:
                self._in_memory -= 1
                raise
            engine = make_engine(name, self._weights, self._base.format, slot)
            parent, length = self._base.name, self._base.max_model_len
            self._served[name] = ServedModel(name, folder, format_, engine, length, slot, parent)
            self._digests[name] = digest

    async def unload(self, name: str) -> None:
        """Take an adapter's name away, wait for its requests in hand, and take it out of memory.

        Raises:
            NotFound: there is no such adapter.
        """
        if name == self._base.name or name not in self._served:
            raise NotFound(f"The lora adapter '{name}' cannot be found.")
        served = self._served.pop(name)
        await served.wait_until_unused()
        await asyncio.to_thread(self._weights.remove, served.slot)
        self._in_memory -= 1

    def _check(self, name: str, digest: str) -> None:
        if name == self._base.name:
            raise InvalidInput(f"The lora adapter '{name}' conflicts with a served base model.")
        if self._digests.get(name, digest) != digest:
            raise InvalidInput(f"The lora adapter '{name}' was loaded from other files: give what is new a name of its own.")
        if name in self._served:
            raise InvalidInput(f"The lora adapter '{name}' has already been loaded.")
        check_name(name, digest)
        if self._in_memory >= self._most:
            raise InvalidInput(f"{self._most} adapters are loaded, and --max-loras allows no more: unload one first")


def make_engine(name: str, weights: SharedWeights, base: PromptFormat, slot: str = "") -> TransformersEngine:
    """Make the engine of a model."""
    pad_id = int(base.tokenizer.pad_token_id)
    return TransformersEngine(name, weights.lend(slot), pad_id=pad_id, between_tokens=weights.share(slot))
