"""The audit log of each organisation: it only grows."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from enum import StrEnum
from uuid import UUID

import orjson
from pydantic import Field

from app.database.engine import Executor, translate_outages
from app.database.tenancy import Tenant, get_tenant
from app.domain.value import Value

RECORD = """
    INSERT INTO audit (organisation_id, user_id, key_id, address, action, subject, detail)
    VALUES ($1, $2, $3, $4, $5, $6, $7)"""
# Whoever left the organisation is not shown by name any more.
PAGE = """
    SELECT a.id, a.at, a.user_id, coalesce(u.email, '') AS email, a.key_id, a.address, a.action, a.subject, a.detail
    FROM audit a LEFT JOIN users u ON u.id = a.user_id
    WHERE ($2::uuid IS NULL OR (a.at, a.id) < (SELECT b.at, b.id FROM audit b WHERE b.id = $2))
      AND ($3::text IS NULL OR a.action = $3) AND ($4::uuid IS NULL OR a.user_id = $4)
      AND ($5::date IS NULL OR a.at >= $5::date::timestamp AT TIME ZONE 'UTC')
      AND ($6::date IS NULL OR a.at < ($6::date + 1)::timestamp AT TIME ZONE 'UTC')
    ORDER BY a.at DESC, a.id DESC LIMIT $1"""


class Action(StrEnum):
    """What is written down."""

    SIGNED_UP = "signed_up"
    SIGNED_IN = "signed_in"
    SIGN_IN_FAILED = "sign_in_failed"
    SIGNED_OUT = "signed_out"
    SESSION_ENDED = "session_ended"
    IDENTITY_UNLINKED = "identity_unlinked"
    PASSWORD_CHANGED = "password_changed"
    PASSWORD_TAKEN = "password_taken"
    PASSWORD_RESET = "password_reset"
    ADDRESS_VERIFIED = "address_verified"
    KEY_MADE = "key_made"
    KEY_REVOKED = "key_revoked"
    MEMBER_INVITED = "member_invited"
    INVITATION_WITHDRAWN = "invitation_withdrawn"
    MEMBER_JOINED = "member_joined"
    ROLE_CHANGED = "role_changed"
    MEMBER_REMOVED = "member_removed"
    DATA_EXPORTED = "data_exported"
    PERSON_ERASED = "person_erased"
    LIMITS_CHANGED = "limits_changed"
    RETENTION_CHANGED = "retention_changed"
    WEBHOOK_MADE = "webhook_made"
    WEBHOOK_CHANGED = "webhook_changed"
    WEBHOOK_SECRET_CHANGED = "webhook_secret_changed"
    WEBHOOK_REMOVED = "webhook_removed"
    LOG_EXPORTED = "log_exported"
    RUN_DELETED = "run_deleted"
    REPORT_SHARED = "report_shared"
    SHARE_ENDED = "share_ended"
    COLLECTION_OPENED = "collection_opened"
    COLLECTION_DELETED = "collection_deleted"
    CONSENT_CHANGED = "consent_changed"
    MODEL_PROMOTED = "model_promoted"
    ROLE_HELD = "role_held"
    ROLE_RELEASED = "role_released"
    ROLE_TAKEN_BACK = "role_taken_back"
    MODEL_WITHDRAWN = "model_withdrawn"
    CYCLE_STARTED = "cycle_started"
    CYCLE_STEP_APPROVED = "cycle_step_approved"
    CYCLE_PAUSED = "cycle_paused"
    CYCLE_RESUMED = "cycle_resumed"
    CYCLE_STOPPED = "cycle_stopped"


class AuditEntry(Value):
    """One line of the log."""

    id: UUID
    at: datetime
    user_id: UUID | None = Field(description="Who; null for a person who was erased.")
    email: str = Field(default="", description="Their address; empty for who is no member any more.")
    key_id: UUID | None = Field(description="With which API key, if with one.")
    address: str = Field(description="From which network address.")
    action: Action
    subject: str = Field(description="What it was done to.")
    detail: dict[str, str]


class AuditFilter(Value):
    """Which entries: those of one action, of one person, from one day to another (UTC, both included)."""

    action: Action | None = None
    user_id: UUID | None = None
    since: date | None = None
    until: date | None = None


EVERYTHING = AuditFilter()


async def record(
    database: Executor, action: Action, subject: object = "", detail: Mapping[str, str] | None = None, by: Tenant | None = None
) -> None:
    """Write down what the person this context acts for, or `by`, has done. Use the connection of the transaction that does it."""
    who = by or get_tenant()
    known = (who.organisation, who.user, who.key, who.address)
    async with translate_outages():
        await database.execute(RECORD, *known, action, str(subject), orjson.dumps(detail or {}).decode())


async def list_page(
    database: Executor, limit: int, before: UUID | None, wanted: AuditFilter = EVERYTHING
) -> Sequence[AuditEntry]:
    """List up to `limit` of the wanted entries, newest first, older than `before`."""
    async with translate_outages():
        rows = await database.fetch(PAGE, limit, before, wanted.action, wanted.user_id, wanted.since, wanted.until)
    return [AuditEntry(**(dict(row) | {"detail": orjson.loads(row["detail"])})) for row in rows]
