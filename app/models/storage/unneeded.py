"""Served models that nobody will ask again: which are to be marked as gone, and which may leave their servers."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from app.database.engine import Executor, translate_outages
from app.domain.served_models import ServedModel
from app.models.storage.served import COLUMNS

SETTLED = timedelta(minutes=10)
"""How long a model has had no role before anybody counts its runs. A run that is being created may hold what its role had, and
nobody sees it before it is committed: that takes seconds, since no statement may last longer than `COMMAND_LIMIT`.
"""
# Named by no alias, by no canary, and by no run that has not ended; and this long enough. `$1` is `SETTLED`.
UNUSED = """
    NOT EXISTS (SELECT FROM model_aliases a WHERE a.served = s.name)
    AND NOT EXISTS (SELECT FROM alias_moves m WHERE s.name IN (m.came_from, m.went_to) AND m.at > now() - $1::interval)
    AND NOT EXISTS (SELECT FROM canaries c WHERE c.served = s.name AND (c.ended_at IS NULL OR c.ended_at > now() - $1::interval))
    AND NOT EXISTS (SELECT FROM runs r, json_each_text(r.query->'models') m
                    WHERE r.finished_at IS NULL AND r.query->'models' IS NOT NULL AND m.value = s.name)"""
# A retired version stays: its role may go back to it.
MARK_ENDED = f"""
    UPDATE served_models s SET gone_at = now() FROM model_versions v
    WHERE v.id = s.version AND v.state IN ('refused', 'withdrawn') AND s.gone_at IS NULL AND {UNUSED} RETURNING s.name"""
MARK_WITHDRAWN = "UPDATE served_models SET gone_at = now() WHERE version = $1 AND gone_at IS NULL RETURNING name"
UNLOADABLE = f"""
    SELECT {", ".join(f"s.{column}" for column in COLUMNS)} FROM served_models s JOIN model_versions v ON v.id = s.version
    WHERE v.state IN ('refused', 'withdrawn') AND s.adapter <> '' AND s.gone_at < now() - $1::interval AND {UNUSED}
    ORDER BY s.name"""


async def mark_version_gone(connection: Executor, version: UUID) -> Sequence[str]:
    """Note that the served models of a version are gone, whoever uses them, and return their names."""
    async with translate_outages():
        return [row["name"] for row in await connection.fetch(MARK_WITHDRAWN, version)]


async def mark_ended_gone(database: Executor, settled: timedelta = SETTLED) -> Sequence[str]:
    """Note that the served models of refused and withdrawn versions are gone once nothing uses them, and return their names."""
    async with translate_outages():
        return [row["name"] for row in await database.fetch(MARK_ENDED, settled)]


async def list_unloadable(database: Executor, settled: timedelta = SETTLED) -> Sequence[ServedModel]:
    """Return the adapters of refused and withdrawn versions that are gone here and may leave their servers."""
    async with translate_outages():
        return [ServedModel(**dict(row)) for row in await database.fetch(UNLOADABLE, settled)]
