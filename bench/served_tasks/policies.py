"""Policies behind a server of their own, opened as a worker opens the models of its roles."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TypeAlias, TypeVar

from app.domain.budget import AgentLimits
from app.domain.served_models import Notation, ServedModel
from app.settings import Settings
from bench.loop.commands import serve
from bench.served_tasks.own_prompts import AskedAsTrained
from training.serving.digest import digest_adapter, name_adapter
from training.serving.shared_weights import CONFIG
from workflows.agents.kit import Bounds, Kit
from workflows.agents.ports import Tool
from workflows.chat_models.adapters import load_adapter
from workflows.chat_models.at_temperature import fix_temperature
from workflows.chat_models.openai_compatible import connect_model
from workflows.chat_models.served_book import OpenModel
from workflows.durable.served_setup import equip_model, make_endpoint
from workflows.prompts.library import PromptLibrary
from workflows.systems.local_record import LocalRecord

CONTEXT = 16_384
"""The context of the servers, in tokens: the least with which the product asks a model as it does a large one."""
AT_ONCE = 16
TODAY = date(2026, 1, 1)
"""The day that the prompts name from which the policies learned."""
OpenAt: TypeAlias = Callable[[float | None], OpenModel]
"""Opens a policy at a temperature; None: each step's own."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KeptPolicies:
    """The folders of a seed's policies: after SFT alone, and trained by the recipe."""

    sft: Path
    trained: Path


def find_policies(folder: Path) -> KeptPolicies | None:
    """Return the policies that `bench.learning --keep` left in the folder of a seed; None where one of them is missing."""
    found = [_find_first(folder, names) for names in (("sft", "plain"), ("trained", "trained/run"))]
    return KeptPolicies(*(path for path in found if path)) if all(found) else None


def _find_first(folder: Path, names: Sequence[str]) -> Path | None:
    return next((model for name in names if (model := folder / name / "model").is_dir()), None)


@asynccontextmanager
async def open_policy(model: Path, base: Path, role: str, version: int) -> AsyncIterator[OpenAt]:
    """Serve a policy by a process of its own: whole weights as the base, an adapter on `base`, by the product's own loader.

    Either has the name of its digest. `model` is absolute: the server reads it.
    """
    name = name_adapter(role, version, digest_adapter(model))
    is_adapter = (model / CONFIG).exists()
    served = ["--served-model-name", "base" if is_adapter else name, "--port", "0", "--max-model-len", str(CONTEXT)]
    async with serve("training.serving", str(base if is_adapter else model), *served) as address:
        told = ServedModel(name=name, address=address, notation=Notation.TAGS, context=CONTEXT)
        endpoint, prompts = make_endpoint(told, Settings(), {}), PromptLibrary.load()
        if is_adapter:
            await load_adapter(endpoint, name, model)
        async with connect_model(endpoint) as chat:
            yield lambda temperature: equip_model(fix_temperature(AskedAsTrained(chat), temperature), told, CONTEXT, prompts)


def make_kit(
    model: OpenModel,
    record: LocalRecord,
    tools: Mapping[str, Tool] | None = None,
    limits: AgentLimits | None = None,
    bounds: Bounds | None = None,
) -> Kit:
    """Return the kit of a stage that asks the model."""
    return Kit(
        chat=model.chat,
        tools=tools or {},
        record=record,
        prompts=model.prompts,
        codec=model.codec,
        today=TODAY,
        clock=lambda: 0.0,
        limits=limits or AgentLimits(),
        bounds=bounds or Bounds(),
    )


async def ask_all(asked: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """Return the answers in order; so many are asked for at a time as the server has rows in a batch."""
    room = asyncio.Semaphore(AT_ONCE)

    async def ask(one: Callable[[], Awaitable[T]]) -> T:
        async with room:
            return await one()

    return list(await asyncio.gather(*map(ask, asked)))
