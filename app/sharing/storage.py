"""Links to shared reports."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.database.noun_columns import columns_of
from app.reports.storage.reports import StoredReport
from app.sharing.nouns import Share

_COLUMNS = columns_of(Share)
ADD = f"""
    INSERT INTO report_shares (id, run_id, version, token_hash, expires_at) VALUES ($1, $2, $3, $4, $5) RETURNING {_COLUMNS}"""
LIST = f"SELECT {_COLUMNS} FROM report_shares WHERE run_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2"
REVOKE = "UPDATE report_shares SET revoked_at = now() WHERE run_id = $1 AND id = $2 AND revoked_at IS NULL RETURNING id"
KNOWN = "SELECT EXISTS (SELECT FROM report_shares WHERE run_id = $1 AND id = $2)"
OPEN = """
    WITH share AS (UPDATE report_shares SET last_read_at = now()
                   WHERE token_hash = $1 AND revoked_at IS NULL AND expires_at > now() RETURNING run_id, version, expires_at)
    SELECT share.run_id, share.version, share.expires_at, may_read_evidence(share.run_id) AS readable,
           text.report, text.markdown, text.html, text.evidence, text.created_at FROM share,
        LATERAL (SELECT r.report, r.markdown, r.html, r.evidence, r.created_at FROM reports r
                 WHERE r.run_id = share.run_id AND share.version = 1
                 UNION ALL SELECT v.report, v.markdown, v.html, v.evidence, v.created_at FROM report_versions v
                 WHERE v.run_id = share.run_id AND v.n = share.version) AS text"""


class OpenedLink(NamedTuple):
    """What a link opens: a version of a run's report, until a time."""

    run_id: UUID
    report: StoredReport
    expires_at: datetime


async def add(database: Executor, share_id: UUID, run_id: UUID, version: int, hash_: bytes, expires_at: datetime) -> Share:
    """Add a link to a version."""
    async with translate_outages():
        row = await database.fetchrow(ADD, share_id, run_id, version, hash_, expires_at)
    assert row is not None
    return _share_of(row)


async def list_links(database: Executor, run_id: UUID, limit: int) -> Sequence[Share]:
    """Return a run's links, newest first, ended ones too."""
    async with translate_outages():
        return [_share_of(row) for row in await database.fetch(LIST, run_id, limit)]


async def revoke(database: Executor, run_id: UUID, share_id: UUID) -> bool:
    """End a link now; False when there is none of this id. Ending it again changes nothing."""
    async with translate_outages():
        if await database.fetchval(REVOKE, run_id, share_id):
            return True
        known: bool = await database.fetchval(KNOWN, run_id, share_id)
    return known


async def open_link(database: Executor, hash_: bytes) -> OpenedLink | None:
    """Return what the link with this token's hash opens; None when there is none, or it has ended.

    For the trusted role, since nobody is known here. Nobody in particular may use no collection.
    """
    async with translate_outages():
        row = await database.fetchrow(OPEN, hash_)
    if row is None:
        return None
    values = dict(row)
    run_id, expires_at = values.pop("run_id"), values.pop("expires_at")
    return OpenedLink(run_id, StoredReport(**values), expires_at)


def _share_of(row: Record) -> Share:
    return Share(**dict(row))
