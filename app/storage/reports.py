"""Finished reports, and the stored copies of the sources they cite."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from app.storage.engine import Executor, translated

GET = """
    SELECT s.report, s.markdown, s.html, s.evidence, s.created_at FROM reports s WHERE s.run_id = $1"""
EVIDENCE = "SELECT evidence FROM reports WHERE run_id = $1"
SNAPSHOT = "SELECT body FROM snapshots WHERE hash = $1"


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
