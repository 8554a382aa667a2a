"""Reads from PostgreSQL, past the API, what the benches need: turns with their times, and stages opened again."""

from uuid import UUID

import asyncpg

from app.domain.trajectory import TurnKind
from bench.billing import StoredTurn

MODEL_TURNS = """SELECT agent, ordinal, digest, created_at FROM turns WHERE run_id = $1 AND kind = 'model'"""
TURN_KINDS = """SELECT agent, kind FROM turns WHERE run_id = $1 AND revision = 0"""
REOPENED = """SELECT sum(attempt - 1)::int FROM stages WHERE run_id = $1 AND attempt > 1"""


async def read_model_turns(database: asyncpg.Pool, run_id: str) -> list[StoredTurn]:
    """Return every stored model turn of a run, superseded ones too."""
    return [StoredTurn(*row) for row in await database.fetch(MODEL_TURNS, UUID(run_id))]


async def read_turn_kinds(database: asyncpg.Pool, run_id: str) -> list[tuple[str, TurnKind]]:
    """Return agent and kind of every turn of a run."""
    return [(agent, TurnKind(kind)) for agent, kind in await database.fetch(TURN_KINDS, UUID(run_id))]


async def count_reopened(database: asyncpg.Pool, run_id: str) -> int:
    """Count how often a stage of the run was opened again after its first attempt died."""
    return int(await database.fetchval(REOPENED, UUID(run_id)) or 0)
