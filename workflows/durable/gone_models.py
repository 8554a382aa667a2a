"""A run whose model is gone: why it waits, in words that tell who has the model's roles now; tasks go on with these."""

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias
from uuid import UUID

import asyncpg

from app.domain.contract import ResearchInput
from app.domain.errors import ModelGone, ModelUnusable
from app.domain.served_models import ModelRole, RoleModels
from app.models.storage import aliases, served
from app.models.storage.resolution import replace_gone
from app.runs.storage.run_log import RunLog
from workflows.durable.persistence import persist

# Called with the name of a model and what its server said.
RefusalWords: TypeAlias = Callable[[str, ModelUnusable], Awaitable[str]]


async def repeat_refusal(_: str, refusal: ModelUnusable) -> str:
    """Say what the server said."""
    return str(refusal)


async def explain_refusal(database: asyncpg.Pool, models: RoleModels, name: str, refusal: ModelUnusable) -> str:
    """Say why a model answers nothing. One that is gone is noted as gone, so that nobody is given it any more."""
    roles = [role for role in ModelRole if models.of(role) == name]
    if not isinstance(refusal, ModelGone) or not roles:
        return str(refusal)
    await persist(lambda: served.mark_gone(database, name))
    holders = await persist(lambda: aliases.list_all(database))
    others = [f"{role}: {holders[role].served}" for role in roles if role in holders and holders[role].served != name]
    now = f"a resume with the present models takes {', '.join(others)}" if others else "no other model has its role yet"
    return f"the model {name!r} is gone, which is this run's {_join(roles)} ({refusal}); {now}"


async def load_with_models(log: RunLog, run_id: UUID) -> ResearchInput:
    """Return a run as it was asked, for a task on its report: a role whose model is gone has its present holder.

    No run waits for a person here, who could choose.
    """
    start = await log.load(run_id)
    models = await replace_gone(log.executor, start.query.models, start.organisation_id)
    return start.model_copy(update={"query": start.query.model_copy(update={"models": models})})


def _join(roles: Iterable[ModelRole]) -> str:
    return ", ".join(role.value for role in roles)
