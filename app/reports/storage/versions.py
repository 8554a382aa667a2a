"""The versions of a report. The first is what the run delivered, in `reports`; later ones are in `report_versions`."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import asyncpg
from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.database.json_text import replace_nul
from app.domain.budget import Usage
from app.domain.errors import Conflict
from app.domain.report import Report
from app.domain.revision import VersionInfo, VersionOrigin
from app.reports.storage.reports import StoredReport
from app.runs.storage.run_log import Renderings, to_json

_TEXTS = "report, markdown, html, evidence, created_at"
_ALL = f"""
    (SELECT 1 AS n, {_TEXTS} FROM reports WHERE run_id = $1
     UNION ALL SELECT n, {_TEXTS} FROM report_versions WHERE run_id = $1)"""
GET = f"""
    SELECT {_TEXTS}, n, may_read_evidence($1) FROM {_ALL} versions
    WHERE n = coalesce($2, (SELECT greatest(1, max(n)) FROM report_versions WHERE run_id = $1))"""
LATEST = "SELECT greatest(1, max(n)) FROM report_versions WHERE run_id = $1"
LIST = """
    SELECT 1 AS n, 'delivered' AS origin, NULL::integer AS based_on, NULL::integer AS section, '' AS note,
           NULL::json AS usage, created_at
    FROM reports WHERE run_id = $1
    UNION ALL SELECT n, origin, based_on, section, note, usage, created_at FROM report_versions WHERE run_id = $1
    ORDER BY n DESC"""
ADD = """
    INSERT INTO report_versions (run_id, n, origin, based_on, section, note, usage, report, markdown, html, evidence)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"""

# An old version is brought back as it was, renderings included.
REVERT = f"""
    INSERT INTO report_versions (run_id, n, origin, based_on, usage, report, markdown, html, evidence)
    SELECT $1, $3, 'reverted', $2, $4, report, markdown, html, evidence FROM {_ALL} versions WHERE n = $2"""
CHANGED_MEANWHILE = "the report has changed meanwhile; read its newest version and try again"


async def get(database: Executor, run_id: UUID, n: int | None = None) -> StoredReport | None:
    """Return one version, by default the newest, or None."""
    async with translate_outages():
        row = await database.fetchrow(GET, run_id, n)
    return StoredReport(*row) if row else None


async def get_latest(database: Executor, run_id: UUID) -> int:
    """Return the number of the newest version; 1 also where there is no report yet."""
    async with translate_outages():
        found: int = await database.fetchval(LATEST, run_id)
    return found


async def list_all(database: Executor, run_id: UUID) -> Sequence[VersionInfo]:
    """Return all versions, newest first, without their texts."""
    async with translate_outages():
        rows = await database.fetch(LIST, run_id)
    return [_info_of(row) for row in rows]


async def add(
    database: Executor, run_id: UUID, info: VersionInfo, report: Report, renderings: Renderings, evidence: Mapping[str, Any]
) -> None:
    """Keep a further version; `info.created_at` is not looked at.

    Raises:
        Conflict: there is a version of this number already.
    """
    markdown, html = (text.replace("\x00", "") for text in renderings)
    try:
        async with translate_outages():
            await database.execute(
                ADD,
                run_id,
                info.n,
                info.origin,
                info.based_on,
                info.section,
                info.note,
                info.usage.model_dump_json(),
                replace_nul(report.model_dump_json()),
                markdown,
                html,
                to_json(evidence),
            )
    except asyncpg.UniqueViolationError as error:
        raise Conflict(CHANGED_MEANWHILE) from error


async def revert(database: Executor, run_id: UUID, to: int, n: int) -> None:
    """Add version `n` with the content of version `to`.

    Raises:
        Conflict: there is a version `n` already.
    """
    try:
        async with translate_outages():
            await database.execute(REVERT, run_id, to, n, Usage().model_dump_json())
    except asyncpg.UniqueViolationError as error:
        raise Conflict(CHANGED_MEANWHILE) from error


def _info_of(row: Record) -> VersionInfo:
    return VersionInfo(
        n=row["n"],
        based_on=row["based_on"],
        origin=VersionOrigin(row["origin"]),
        section=row["section"],
        note=row["note"],
        usage=Usage.of_any_version(row["usage"]) if row["usage"] else Usage(),
        created_at=row["created_at"],
    )
