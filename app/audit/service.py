"""Read the audit log page by page, or as a table for a spreadsheet."""

import csv
import io
from collections.abc import Sequence
from uuid import UUID

import orjson

from app.audit import storage as audit
from app.audit.storage import Action, AuditEntry, AuditFilter
from app.database.tenancy import TenantDatabase
from app.domain.errors import InvalidInput

MOST_ROWS = 50_000
TABLE_HEAD = ("time", "person", "person_id", "key_id", "address", "action", "subject", "detail")
# Beginnings that a spreadsheet takes for a formula (OWASP, CSV injection).
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class AuditLog:
    """The use cases of the log.

    Raises:
        InvalidInput: the days are in the wrong order, or there are too many entries for one table.
        Unavailable: the database does not answer.
    """

    def __init__(self, tenants: TenantDatabase) -> None:
        self._tenants = tenants

    async def list_page(self, limit: int, before: UUID | None, wanted: AuditFilter) -> Sequence[AuditEntry]:
        """Return up to `limit` of the wanted entries, newest first, older than `before`."""
        _check_days(wanted)
        return await audit.list_page(self._tenants, limit, before, wanted)

    async def export_table(self, wanted: AuditFilter) -> bytes:
        """Return all wanted entries as CSV, newest first: UTF-8 with a byte order mark. The export is recorded."""
        _check_days(wanted)
        found = await audit.list_page(self._tenants, MOST_ROWS + 1, None, wanted)
        if len(found) > MOST_ROWS:
            raise InvalidInput(f"these are more than {MOST_ROWS:,} entries; name the days with `since` and `until`")
        told = {name: str(value) for name, value in wanted.model_dump(exclude_none=True).items()}
        await audit.record(self._tenants, Action.LOG_EXPORTED, "", told)
        return as_csv(found)


def as_csv(entries: Sequence[AuditEntry]) -> bytes:
    """Return a row for each entry. A cell that a spreadsheet would compute begins with an apostrophe, which makes it text."""
    written = io.StringIO(newline="")
    table = csv.writer(written, quoting=csv.QUOTE_ALL)
    table.writerow(TABLE_HEAD)
    for entry in entries:
        detail = orjson.dumps(entry.detail).decode() if entry.detail else ""
        who = (entry.at.isoformat(timespec="milliseconds"), entry.email, entry.user_id or "", entry.key_id or "", entry.address)
        table.writerow([_make_inert(str(cell)) for cell in (*who, entry.action.value, entry.subject, detail)])
    return written.getvalue().encode("utf-8-sig")


def _make_inert(cell: str) -> str:
    return f"'{cell}" if cell.lstrip(" ").startswith(FORMULA) else cell


def _check_days(wanted: AuditFilter) -> None:
    if wanted.since and wanted.until and wanted.since > wanted.until:
        raise InvalidInput("`since` must not be after `until`")
