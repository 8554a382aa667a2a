"""Finished reports, and the stored copies of the sources they cite."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from app.domain.evidence import Quote
from app.storage.engine import Executor, translated

GET = """
    SELECT s.report, s.markdown, s.html, s.evidence, s.created_at FROM reports s WHERE s.run_id = $1"""
EVIDENCE = "SELECT evidence FROM reports WHERE run_id = $1"
# Characters, not bytes: offsets count characters of the text, so it is decoded before it is cut.
AROUND = """
    WITH wanted AS (SELECT * FROM unnest($1::text[], $2::text[], $3::int[], $4::int[]) AS w(key, hash, starts, ends)),
         texts AS MATERIALIZED (SELECT s.hash, convert_from(s.body, 'UTF8') AS text FROM snapshots s
                                WHERE s.hash IN (SELECT hash FROM wanted))
    SELECT key, substr(text, greatest(starts - $5, 0) + 1, least($5, starts)) AS before, substr(text, ends + 1, $5) AS after
    FROM wanted JOIN texts USING (hash)"""
SURROUNDING_CHARS = 240
SNAPSHOT = "SELECT body FROM snapshots WHERE hash = $1"


class Surroundings(NamedTuple):
    """The text of a stored copy just before and just after a quote."""

    before: str
    after: str


class StoredReport(NamedTuple):
    """A report as it was stored: `report` and `evidence` are JSON texts."""

    report: str
    markdown: str
    html: str
    evidence: str
    created_at: datetime


async def get(database: Executor, run_id: UUID) -> StoredReport | None:
    """The run's report, or None."""
    async with translated():
        row = await database.fetchrow(GET, run_id)
    return StoredReport(*row) if row else None


async def evidence(database: Executor, run_id: UUID) -> str | None:
    """The run's evidence.json as text, or None."""
    async with translated():
        found: str | None = await database.fetchval(EVIDENCE, run_id)
    return found


async def snapshot(database: Executor, hash_: str) -> bytes | None:
    """The stored copy (UTF-8) of the source with this SHA-256, or None."""
    async with translated():
        found: bytes | None = await database.fetchval(SNAPSHOT, hash_)
    return found


async def surroundings(database: Executor, quotes: Sequence[Quote]) -> dict[str, Surroundings]:
    """By quote key: up to 240 characters of the stored copy on each side. A quote without a stored copy has none."""
    columns = zip(*((q.key, q.source.snapshot, q.start, q.end) for q in quotes), strict=True)
    if not quotes:
        return {}
    async with translated():
        rows = await database.fetch(AROUND, *(list(column) for column in columns), SURROUNDING_CHARS)
    return {row["key"]: Surroundings(_from_word(row["before"]), _to_word(row["after"])) for row in rows}


def _from_word(text: str) -> str:
    """Begin at a word's beginning, where the cut fell inside one."""
    return text.partition(" ")[2] if len(text) == SURROUNDING_CHARS and " " in text else text


def _to_word(text: str) -> str:
    return text.rpartition(" ")[0] if len(text) == SURROUNDING_CHARS and " " in text else text
