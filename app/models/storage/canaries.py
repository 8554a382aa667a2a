"""Canaries: candidates that serve a share of the organisations."""

from collections.abc import Sequence
from uuid import UUID

from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.domain.model_versions import Canary, CanaryState
from app.domain.served_models import ModelRole

RECORD = "id, version, role, also, served, share, state, why, started_at, ended_at"
# At most one runs in a role. Whoever starts one holds the roles (`versions.hold_all_roles`).
START = f"""
    INSERT INTO canaries (id, version, role, also, served, share, state) SELECT $1, $2, $3::text, $4::text[], $5, $6, 'running'
    WHERE NOT EXISTS (SELECT FROM canaries WHERE state = 'running' AND id <> $1 AND (role || also) && ($3::text || $4::text[]))
    ON CONFLICT DO NOTHING RETURNING {RECORD}"""
END = f"""
    UPDATE canaries SET state = $2, why = $3, ended_at = now() WHERE id = $1 AND state = 'running' RETURNING {RECORD}"""
GET = f"SELECT {RECORD} FROM canaries WHERE id = $1"
RUNNING = f"SELECT {RECORD} FROM canaries WHERE state = 'running' ORDER BY role"
OF_VERSION = f"SELECT {RECORD} FROM canaries WHERE version = $1 ORDER BY started_at DESC"


async def start(
    connection: Executor, id_: UUID, version: UUID, roles: Sequence[ModelRole], served: str, share: float
) -> Canary | None:
    """Start a canary in these roles. None: there is one of this id, or another runs in one of them."""
    async with translate_outages():
        row = await connection.fetchrow(START, id_, version, roles[0], list(roles[1:]), served, share)
    return _canary_of(row) if row else None


async def end(connection: Executor, id_: UUID, state: CanaryState, why: str) -> Canary | None:
    """End a running canary. None: it does not run."""
    async with translate_outages():
        row = await connection.fetchrow(END, id_, state, why)
    return _canary_of(row) if row else None


async def get(database: Executor, id_: UUID) -> Canary | None:
    """Return the canary, or None."""
    async with translate_outages():
        row = await database.fetchrow(GET, id_)
    return _canary_of(row) if row else None


async def list_running(database: Executor) -> dict[ModelRole, Canary]:
    """Return the canary of each role in which one runs."""
    async with translate_outages():
        found = [_canary_of(row) for row in await database.fetch(RUNNING)]
    return {role: canary for canary in found for role in canary.roles}


async def list_of_version(database: Executor, version: UUID) -> list[Canary]:
    """Return the canaries of a version, the newest first."""
    async with translate_outages():
        return [_canary_of(row) for row in await database.fetch(OF_VERSION, version)]


def _canary_of(row: Record) -> Canary:
    return Canary(**dict(row))
