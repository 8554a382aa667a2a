"""What was trained, as the registry takes it."""

from typing import Any
from uuid import UUID, uuid4

import asyncpg

from app.domain.model_versions import ModelVersion, TrainedModel, TrainedOn
from app.domain.served_models import ModelRole
from app.models.service import registry

ARTIFACT = "ab" * 32


def make_trained(role: ModelRole = ModelRole.WRITER, **options: Any) -> TrainedModel:
    """A trained model with all that a recipe tells."""
    told: dict[str, Any] = {
        "recipe": "preference_dpo",
        "configuration": {"optimizer": {"learning_rate": 1e-5}, "adapter": {"rank": 8}},
        "build": "b1",
        "sets": (TrainedOn(kind="preference-pairs", digest="cd" * 32, rows=3),),
        "artifact": ARTIFACT,
        "base": "Qwen/Qwen3-4B",
        "notation": "tags",
        "licence": "apache-2.0",
    }
    return TrainedModel(role=role, **(told | options))


async def add_version(
    pool: asyncpg.Pool, role: ModelRole = ModelRole.WRITER, pairs: tuple[str, ...] = (), id: UUID | None = None, **options: Any
) -> ModelVersion:
    """A candidate of the registry."""
    async with pool.acquire() as connection, connection.transaction():
        return await registry.add_version(
            connection, id or uuid4(), make_trained(role, **options), pairs, "ada@example.org", "trained by hand"
        )
