"""The book of served models: each is connected once, when a stage first asks for it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from app.domain.served_models import ServedModel
from workflows.agents.agent_set import AgentSet
from workflows.agents.codec import StepCodec
from workflows.agents.ports import ChatModel
from workflows.chat_models.endpoint import ModelPrices
from workflows.chat_models.gone import GoneModel
from workflows.prompts.library import PromptLibrary


@dataclass(frozen=True, slots=True)
class OpenModel:
    """A model that can be asked, with what suits it: the notation of its answers, prompts and agents for its context.

    `context_tokens` is 0 where it is unknown; `on_this_machine` says where its server is.
    """

    chat: ChatModel
    codec: StepCodec
    prompts: PromptLibrary
    agents: AgentSet
    prices: ModelPrices = field(default_factory=ModelPrices)
    context_tokens: int = 0
    on_this_machine: bool = False

    @property
    def name(self) -> str:
        """The model's name on its server."""
        return self.chat.name


FindRecord: TypeAlias = Callable[[str], Awaitable[ServedModel | None]]
OpenRecord: TypeAlias = Callable[[ServedModel], Awaitable[OpenModel]]


async def find_nothing(_: str) -> None:
    """Find no record: there is only the settings' model."""


async def open_nothing(model: ServedModel) -> OpenModel:
    """Open no model: there is no record to open."""
    raise LookupError(f"nothing here connects {model.name}")


@dataclass
class ServedModels:
    """The served models of a worker. `main` is the settings' model, which an empty name means.

    `find` returns the record of a name, or None if there is none or its model is gone; `connect` opens a model by its record.
    """

    main: OpenModel
    find: FindRecord = find_nothing
    connect: OpenRecord = open_nothing
    others: dict[str, OpenModel] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def open(self, name: str) -> OpenModel:
        """Return the model of this name; where there is none, or it is gone, one that tells so when it is asked."""
        return await self.find_open(name) or replace(self.main, chat=GoneModel(name))

    async def find_open(self, name: str) -> OpenModel | None:
        """Return the model of this name, or None; also where it was there before and is gone by now."""
        if name in ("", self.main.name):
            return self.main
        if (record := await self.find(name)) is None:
            return None
        async with self._turn:
            if name not in self.others:
                self.others[name] = await self.connect(record)
        return self.others[name]

    def find_known(self, name: str) -> OpenModel:
        """Return a model that is open; the settings' for any other name."""
        return self.others.get(name, self.main)
