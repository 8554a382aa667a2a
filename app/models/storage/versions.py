"""Versions of trained models in the registry. Every function is one statement.

What adds or moves versions of a role holds the role first (`hold_role`): numbers have no gaps, and one version serves.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import orjson
from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.database.json_text import replace_nul
from app.database.noun_columns import columns_of
from app.domain.model_versions import (
    Canary,
    Evaluation,
    EvaluationKind,
    ModelVersion,
    StateChange,
    TrainedModel,
    VersionState,
)
from app.domain.served_models import AliasMove, ModelRole

HOLD_ROLE = "SELECT pg_advisory_xact_lock(hashtextextended('versions of the ' || $1::text, 0))"
VERSION = f"SELECT {columns_of(ModelVersion)} FROM model_versions "
ADD = f"""
    INSERT INTO model_versions ({columns_of(TrainedModel)}, id, number, state)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
           1 + coalesce((SELECT max(number) FROM model_versions WHERE role = $1), 0), 'candidate'
    ON CONFLICT (id) DO NOTHING RETURNING {columns_of(ModelVersion)}"""
GET = VERSION + "WHERE id = $1"
BY_NUMBER = VERSION + "WHERE role = $1 AND number = $2"
SERVING = VERSION + "WHERE role = $1 AND state = 'serving'"
PAGE = (
    VERSION
    + """WHERE ($2::text IS NULL OR role = $2)
    AND ($3::uuid IS NULL OR (created_at, id) < (SELECT b.created_at, b.id FROM model_versions b WHERE b.id = $3))
    ORDER BY created_at DESC, id DESC LIMIT $1"""
)
# A parent may have another role: a searcher that began with a writer's weights.
LINEAGE = f"""
    WITH RECURSIVE above (id, parent) AS (
        SELECT id, parent FROM model_versions WHERE id = $1
        UNION SELECT v.id, v.parent FROM model_versions v JOIN above a ON v.id = a.parent),
    below (id) AS (SELECT $1::uuid UNION SELECT v.id FROM model_versions v JOIN below b ON v.parent = b.id)
    SELECT {columns_of(ModelVersion)} FROM model_versions
    WHERE id IN (SELECT id FROM above) OR id IN (SELECT id FROM below) ORDER BY created_at, id"""
SET_STATE = """
    WITH changed AS (UPDATE model_versions SET state = $2 WHERE id = $1 RETURNING id)
    INSERT INTO version_states (version_id, state, by, why) SELECT id, $2, $3, $4 FROM changed"""
STATES = f"SELECT {columns_of(StateChange)} FROM version_states WHERE version_id = $1 ORDER BY id"
# A step that is made again after a loss measures the same.
EVALUATE = """
    INSERT INTO version_evaluations (version_id, kind, figures) SELECT $1, $2, $3
    WHERE NOT EXISTS (SELECT FROM version_evaluations WHERE version_id = $1 AND kind = $2 AND figures::text = $3::json::text)"""
EVALUATIONS = f"SELECT {columns_of(Evaluation)} FROM version_evaluations WHERE version_id = $1 ORDER BY id"
CANARIES = f"SELECT {columns_of(Canary)} FROM canaries WHERE version = $1 ORDER BY started_at, id"
MOVES = f"""
    SELECT {columns_of(AliasMove)} FROM alias_moves
    WHERE EXISTS (SELECT FROM served_models s WHERE s.version = $1 AND s.name IN (came_from, went_to)) ORDER BY id"""
MARKED = (
    VERSION
    + """WHERE state IN ('candidate', 'canary', 'serving')
    AND EXISTS (SELECT FROM version_evaluations e
                WHERE e.version_id = model_versions.id AND e.kind = 'erasure' AND e.figures ->> 'policy' = 'retrain')
    ORDER BY role, number"""
)
FORGETTABLE_ARTIFACTS = """
    SELECT DISTINCT artifact FROM model_versions v WHERE state = 'withdrawn'
    AND EXISTS (SELECT FROM version_evaluations e WHERE e.version_id = v.id AND e.kind = 'erasure')
    AND NOT EXISTS (SELECT FROM model_versions o WHERE o.artifact = v.artifact AND o.state <> 'withdrawn') ORDER BY artifact"""


async def hold_role(connection: Executor, role: ModelRole) -> None:
    """Keep others from adding or moving versions of a role until the transaction open on `connection` ends."""
    async with translate_outages():
        await connection.execute(HOLD_ROLE, role)


async def hold_all_roles(connection: Executor) -> None:
    """Hold every role, always in one order: no two acts that move several roles wait for each other."""
    for role in ModelRole:
        await hold_role(connection, role)


async def add(connection: Executor, version: UUID, made: TrainedModel) -> ModelVersion | None:
    """Add a candidate under the next number of its role, which is held; None when there is this version already."""
    fields = made.model_dump(mode="json")
    texts = {name: replace_nul(orjson.dumps(fields[name]).decode()) for name in ("configuration", "sets")}
    ids = {"parent": made.parent, "cycle": made.cycle}
    values = fields | texts | ids
    async with translate_outages():
        row = await connection.fetchrow(ADD, *(values[name] for name in TrainedModel.model_fields), version)
    return _version_of(row) if row else None


async def get(database: Executor, version: UUID) -> ModelVersion | None:
    """Return the version, or None."""
    async with translate_outages():
        row = await database.fetchrow(GET, version)
    return _version_of(row) if row else None


async def find_numbered(database: Executor, role: ModelRole, number: int) -> ModelVersion | None:
    """Return the version of a role under this number, or None."""
    async with translate_outages():
        row = await database.fetchrow(BY_NUMBER, role, number)
    return _version_of(row) if row else None


async def get_serving(database: Executor, role: ModelRole) -> ModelVersion | None:
    """Return the version that serves a role; None where none does, such as before the first."""
    async with translate_outages():
        row = await database.fetchrow(SERVING, role)
    return _version_of(row) if row else None


async def list_page(database: Executor, limit: int, role: ModelRole | None, before: UUID | None) -> Sequence[ModelVersion]:
    """List up to `limit` versions, of one role or of all, newest first, older than the version `before`."""
    async with translate_outages():
        return [_version_of(row) for row in await database.fetch(PAGE, limit, role, before)]


async def list_lineage(database: Executor, version: UUID) -> Sequence[ModelVersion]:
    """List a version with all that it descends from and all that descends from it, oldest first."""
    async with translate_outages():
        return [_version_of(row) for row in await database.fetch(LINEAGE, version)]


async def set_state(connection: Executor, version: UUID, state: VersionState, by: str, why: str) -> None:
    """Change a version's state and keep who changed it, and why."""
    async with translate_outages():
        await connection.execute(SET_STATE, version, state, by, why)


async def list_states(database: Executor, version: UUID) -> Sequence[StateChange]:
    """List the changes of a version's state, oldest first."""
    async with translate_outages():
        return [StateChange(**dict(row)) for row in await database.fetch(STATES, version)]


async def add_evaluation(database: Executor, version: UUID, kind: EvaluationKind, figures: dict[str, Any]) -> None:
    """Keep figures that were measured of a version, once."""
    told = replace_nul(orjson.dumps(figures, option=orjson.OPT_SORT_KEYS).decode())
    async with translate_outages():
        await database.execute(EVALUATE, version, kind, told)


async def list_evaluations(database: Executor, version: UUID) -> Sequence[Evaluation]:
    """List what was measured of a version, oldest first."""
    async with translate_outages():
        rows = await database.fetch(EVALUATIONS, version)
    return [Evaluation(**(dict(row) | {"figures": orjson.loads(row["figures"])})) for row in rows]


async def list_canaries(database: Executor, version: UUID) -> Sequence[Canary]:
    """List a version's canaries, oldest first."""
    async with translate_outages():
        return [Canary(**dict(row)) for row in await database.fetch(CANARIES, version)]


async def list_moves(database: Executor, version: UUID) -> Sequence[AliasMove]:
    """List the moves of aliases to and from what serves a version, oldest first."""
    async with translate_outages():
        return [AliasMove(**dict(row)) for row in await database.fetch(MOVES, version)]


async def list_marked(database: Executor) -> Sequence[ModelVersion]:
    """List the versions to train again: they serve, or may yet, with rows that were erased since."""
    async with translate_outages():
        return [_version_of(row) for row in await database.fetch(MARKED)]


async def list_forgettable_artifacts(database: Executor) -> Sequence[str]:
    """List the artifacts of withdrawn versions that learned from what was erased, where no other version may serve with them."""
    async with translate_outages():
        return [row["artifact"] for row in await database.fetch(FORGETTABLE_ARTIFACTS)]


def _version_of(row: Record) -> ModelVersion:
    told = {name: orjson.loads(row[name]) for name in ("configuration", "sets")}
    return ModelVersion.of_any_version(dict(row) | told)
