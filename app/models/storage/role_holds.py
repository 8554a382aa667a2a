"""Roles that no cycle moves until a person releases them. Every function is one statement."""

from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.database.noun_columns import columns_of
from app.domain.served_models import ModelRole, RoleHold

HOLD = """
    INSERT INTO role_holds (role, by, why) VALUES ($1, $2, $3)
    ON CONFLICT (role) DO UPDATE SET by = excluded.by, why = excluded.why, at = now()"""
RELEASE = "DELETE FROM role_holds WHERE role = $1 RETURNING role"
GET = f"SELECT {columns_of(RoleHold)} FROM role_holds WHERE role = $1"
LIST = f"SELECT {columns_of(RoleHold)} FROM role_holds ORDER BY role"


async def hold(connection: Executor, role: ModelRole, by: str, why: str) -> None:
    """Hold a role; a later reason takes the place of an earlier one."""
    async with translate_outages():
        await connection.execute(HOLD, role, by, why)


async def release(connection: Executor, role: ModelRole) -> bool:
    """Release a role; False when nobody held it."""
    async with translate_outages():
        return await connection.fetchval(RELEASE, role) is not None


async def get(database: Executor, role: ModelRole) -> RoleHold | None:
    """Return who holds a role and why; None where nobody does."""
    async with translate_outages():
        row = await database.fetchrow(GET, role)
    return _hold_of(row) if row else None


async def list_all(database: Executor) -> dict[ModelRole, RoleHold]:
    """Return the hold of each role that has one."""
    async with translate_outages():
        holds = [_hold_of(row) for row in await database.fetch(LIST)]
    return {hold.role: hold for hold in holds}


def _hold_of(row: Record) -> RoleHold:
    return RoleHold(**dict(row))
