"""The audit log of each organisation: it only grows."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from uuid import UUID

import orjson
from pydantic import Field

from app.domain.value import Value
from app.storage.engine import Executor, translated
from app.storage.tenancy import Tenant, acting

RECORD = """
    INSERT INTO audit (organisation_id, user_id, key_id, address, action, subject, detail)
    VALUES ($1, $2, $3, $4, $5, $6, $7)"""
PAGE = """
    SELECT id, at, user_id, key_id, address, action, subject, detail FROM audit
    WHERE $2::uuid IS NULL OR (at, id) < (SELECT at, id FROM audit WHERE id = $2) ORDER BY at DESC, id DESC LIMIT $1"""


class Action(StrEnum):
    """What is written down."""

    SIGNED_UP = "signed_up"
    SIGNED_IN = "signed_in"
    SIGN_IN_FAILED = "sign_in_failed"
    SIGNED_OUT = "signed_out"
    PASSWORD_CHANGED = "password_changed"
    KEY_MADE = "key_made"
    KEY_REVOKED = "key_revoked"
    MEMBER_INVITED = "member_invited"
    INVITATION_WITHDRAWN = "invitation_withdrawn"
    MEMBER_JOINED = "member_joined"
    ROLE_CHANGED = "role_changed"
    MEMBER_REMOVED = "member_removed"
    DATA_EXPORTED = "data_exported"
    PERSON_ERASED = "person_erased"
    RUN_DELETED = "run_deleted"
    LIMITS_CHANGED = "limits_changed"
    RETENTION_CHANGED = "retention_changed"


class AuditEntry(Value):
    """One line of the log."""

    id: UUID
    at: datetime
    user_id: UUID | None = Field(description="Who; null for a person who was erased.")
    key_id: UUID | None = Field(description="With which API key, if with one.")
    address: str = Field(description="From which network address.")
    action: Action
    subject: str = Field(description="What it was done to.")
    detail: dict[str, str]


async def record(
    database: Executor, action: Action, subject: object = "", detail: Mapping[str, str] | None = None, by: Tenant | None = None
) -> None:
    """Write down what whoever this context acts for, or `by`, has done. Use the connection of the transaction that does it."""
    who = by or acting()
    known = (who.organisation, who.user, who.key, who.address)
    async with translated():
        await database.execute(RECORD, *known, action, str(subject), orjson.dumps(detail or {}).decode())


async def page(database: Executor, limit: int, before: UUID | None) -> Sequence[AuditEntry]:
    """Up to `limit` entries, newest first, older than `before`."""
    async with translated():
        rows = await database.fetch(PAGE, limit, before)
    return [AuditEntry(**{**dict(row), "detail": orjson.loads(row["detail"])}) for row in rows]
