"""Aliases: which served model has each role, and every move."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from app.database.engine import Executor, translate_outages
from app.domain.served_models import AliasMove, ModelRole

# Who reads goes on reading; whoever else moves an alias waits.
LOCK = "LOCK TABLE model_aliases IN SHARE ROW EXCLUSIVE MODE"
LIST = "SELECT role, served, of_settings, since FROM model_aliases ORDER BY role"
SET = """
    INSERT INTO model_aliases (role, served, of_settings)
    SELECT $1, name, $3 FROM served_models WHERE name = $2 AND gone_at IS NULL FOR SHARE
    ON CONFLICT (role) DO UPDATE SET served = excluded.served, of_settings = excluded.of_settings, since = now() RETURNING true"""
NOTE = """
    INSERT INTO alias_moves (role, came_from, went_to, by, why) VALUES ($1, $2, $3, $4, $5)
    RETURNING role, came_from, went_to, by, why, at"""
MOVES = """
    SELECT role, came_from, went_to, by, why, at FROM alias_moves WHERE $1::text IS NULL OR role = $1 ORDER BY id DESC LIMIT $2"""


class Alias(NamedTuple):
    """The served model that new runs get in a role. `of_settings`: nobody but the settings has ever moved it."""

    role: ModelRole
    served: str
    of_settings: bool
    since: datetime


async def lock(connection: Executor) -> None:
    """Let nobody else move an alias until the transaction ends that is open on `connection`."""
    async with translate_outages():
        await connection.execute(LOCK)


async def list_all(database: Executor) -> dict[ModelRole, Alias]:
    """Return the alias of each role that has one."""
    async with translate_outages():
        rows = await database.fetch(LIST)
    return {
        role: Alias(role, row["served"], row["of_settings"], row["since"]) for row in rows if (role := ModelRole(row["role"]))
    }


async def set_holder(connection: Executor, role: ModelRole, served: str, of_settings: bool) -> bool:
    """Give the role to a served model. False: there is none of this name, or it is gone."""
    async with translate_outages():
        return bool(await connection.fetchval(SET, role, served, of_settings))


async def note_move(connection: Executor, role: ModelRole, came_from: str, went_to: str, by: str, why: str) -> AliasMove:
    """Keep the move of an alias in its history."""
    async with translate_outages():
        row = await connection.fetchrow(NOTE, role, came_from, went_to, by, why)
    assert row is not None
    return AliasMove(**dict(row))


async def list_moves(database: Executor, role: ModelRole | None, limit: int) -> Sequence[AliasMove]:
    """Return up to `limit` moves (of one role), the newest first."""
    async with translate_outages():
        return [AliasMove(**dict(row)) for row in await database.fetch(MOVES, role, limit)]
