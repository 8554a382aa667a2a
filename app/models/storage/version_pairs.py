"""The rows of exports that versions learned from, by their pseudonyms. Every function is one statement."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from app.database.engine import Executor, translate_outages

ADD = "INSERT INTO version_pairs (version_id, pair) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING"
COUNT = "SELECT count(*) FROM version_pairs WHERE version_id = $1"
AMONG = """
    SELECT version_id, count(*) FILTER (WHERE pair = ANY ($1::text[])) AS own, count(*) AS rows FROM version_pairs
    WHERE version_id IN (SELECT version_id FROM version_pairs WHERE pair = ANY ($1::text[])) GROUP BY version_id"""
LEARNED = "SELECT DISTINCT version_id FROM version_pairs"
MISSING = "SELECT pair FROM version_pairs WHERE version_id = $1 AND pair <> ALL ($2::text[]) ORDER BY pair"
FORGET = "DELETE FROM version_pairs WHERE version_id = $1 AND pair = ANY ($2::text[])"


async def add(connection: Executor, version: UUID, pairs: Sequence[str]) -> None:
    """Keep which rows a version learned from."""
    async with translate_outages():
        await connection.execute(ADD, version, list(pairs))


async def count(database: Executor, version: UUID) -> int:
    """Count the rows that a version learned from, as far as they are not erased."""
    async with translate_outages():
        return int(await database.fetchval(COUNT, version))


async def count_among(database: Executor, pairs: Sequence[str]) -> Mapping[UUID, tuple[int, int]]:
    """Return, for each version that learned from some of these rows, from how many of them, and from how many rows in all."""
    async with translate_outages():
        return {row["version_id"]: (row["own"], row["rows"]) for row in await database.fetch(AMONG, list(pairs))}


async def list_learned(database: Executor) -> Sequence[UUID]:
    """List the versions that learned from rows of exports."""
    async with translate_outages():
        return [row["version_id"] for row in await database.fetch(LEARNED)]


async def list_missing(database: Executor, version: UUID, exportable: Sequence[str]) -> Sequence[str]:
    """List the rows of a version that are not among the exportable ones."""
    async with translate_outages():
        return [row["pair"] for row in await database.fetch(MISSING, version, list(exportable))]


async def forget(connection: Executor, version: UUID, pairs: Sequence[str]) -> None:
    """Delete rows of a version: a pseudonym leads to a person as long as the key is there."""
    async with translate_outages():
        await connection.execute(FORGET, version, list(pairs))
