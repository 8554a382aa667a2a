"""What the registry knows of the rubric's role at the end of a story, as rows of tables, the oldest first."""

from typing import TypeAlias

import asyncpg

from app.domain.served_models import ModelRole
from app.models.service import registry
from app.models.storage import aliases, versions

MOST = 20
Row: TypeAlias = tuple[str, ...]


async def list_moves(database: asyncpg.Pool) -> list[Row]:
    """List the moves of the role: when, from what to what, by whom, and why."""
    found = await aliases.list_moves(database, ModelRole.RUBRIC, MOST)
    return [
        (f"{move.at:%H:%M:%S}", f"{move.came_from or 'nobody'} → {move.went_to}", move.by, move.why) for move in reversed(found)
    ]


async def list_versions(database: asyncpg.Pool) -> list[Row]:
    """List the versions: name, state, and when each was made."""
    found = await versions.list_page(database, MOST, ModelRole.RUBRIC, None)
    return [(each.name, each.state.value, f"{each.created_at:%H:%M:%S}") for each in reversed(found)]


async def list_canaries(database: asyncpg.Pool) -> list[Row]:
    """List the canaries: from when to when, for which share of the organisations, and how each ended."""
    found = await versions.list_page(database, MOST, ModelRole.RUBRIC, None)
    details = [await registry.describe_version(database, each.id) for each in reversed(found)]
    return [
        (
            f"{canary.started_at:%H:%M:%S}",
            f"{canary.ended_at:%H:%M:%S}" if canary.ended_at else "",
            f"{canary.share:.0%}",
            f"{canary.state}: {canary.why}",
        )
        for detail in details
        for canary in detail.canaries
    ]
