"""What clients of the API have beside their runs, idempotency keys, details of responses and webhooks, as Alembic reads it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, JSON, Index, LargeBinary, Text, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from app.database.tables.columns import EMPTY, NEW_ID, NOW, OWNER_OF_ROW, TIME, ZERO, key_in_organisation
from app.database.tables.protection import KEY, USER, own_rows, rows_of_visible_runs

# The API sets secrets and never reads one.
READ = "id, organisation_id, url, description, events, enabled, disabled_reason, failing_since, created_at"
CHANGED = "url, description, events, secret, enabled, disabled_reason, failing_since"


class IdempotencyKeyRow(SQLModel, table=True):
    """A request that carried a key: `working` until it is answered; `unkept` when its answer could not be stored."""

    __tablename__ = "idempotency_keys"
    __table_args__ = (
        Index("idempotency_keys_by_age", "claimed_at"),
        own_rows(added=f"owner_id = {USER} OR owner_id = {KEY}"),
    )
    organisation_id: UUID = Field(
        primary_key=True, foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW
    )
    owner_id: UUID = Field(primary_key=True)
    key: str = Field(primary_key=True, sa_type=Text)
    digest: bytes = Field(sa_type=LargeBinary)
    state: str = Field(sa_type=Text, sa_column_kwargs={"server_default": "working"})
    status: int | None = Field(nullable=True)
    headers: str | None = Field(sa_type=Text, nullable=True)
    body: bytes | None = Field(sa_type=LargeBinary, nullable=True)
    claimed_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class ResponseDetailsRow(SQLModel, table=True):
    """What a client of OpenAI's API gave along with a question; `id` is the run's, or the further question's."""

    __tablename__ = "response_details"
    __table_args__ = (Index("response_details_of_run", "run_id"), rows_of_visible_runs("SELECT, INSERT"))
    id: UUID = Field(primary_key=True)
    run_id: UUID = Field(foreign_key="runs.id", ondelete="CASCADE")
    notes: dict[str, Any] = Field(sa_type=JSON)
    previous_id: UUID | None = Field(nullable=True)
    retrievable: bool = Field()


class WebhookRow(SQLModel, table=True):
    """Where an organisation wants to be told what happens. For a while after a rotation both secrets sign."""

    __tablename__ = "webhooks"
    __table_args__ = (
        UniqueConstraint("organisation_id", "id", name="webhooks_in_organisation"),
        Index("webhooks_of_organisation", "organisation_id", "created_at"),
        own_rows(f"DELETE, INSERT, SELECT ({READ}), UPDATE ({CHANGED})"),
    )
    id: UUID = Field(primary_key=True)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    url: str = Field(sa_type=Text)
    description: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    events: list[str] = Field(sa_type=ARRAY(Text), sa_column_kwargs={"server_default": "{}"})
    secret: str = Field(sa_type=Text)
    previous_secret: str | None = Field(sa_type=Text, nullable=True)
    previous_until: datetime | None = Field(sa_type=TIME, nullable=True)
    enabled: bool = Field(sa_column_kwargs={"server_default": "true"})
    disabled_reason: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    failing_since: datetime | None = Field(sa_type=TIME, nullable=True)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class WebhookDeliveryRow(SQLModel, table=True):
    """One message to one endpoint. `next_attempt_at` is null when there is none to come."""

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        key_in_organisation("webhook_id", "webhooks.id"),
        Index("webhook_deliveries_due", "next_attempt_at", postgresql_where=text("state = 'pending'")),
        Index("webhook_deliveries_newest", "webhook_id", text("created_at DESC"), text("id DESC")),
        own_rows("SELECT, INSERT, UPDATE"),
    )
    id: UUID = Field(primary_key=True, sa_column_kwargs=NEW_ID)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    webhook_id: UUID = Field()
    type: str = Field(sa_type=Text)
    body: str = Field(sa_type=Text)
    state: str = Field(sa_type=Text, sa_column_kwargs={"server_default": "pending"})
    attempts: int = Field(sa_column_kwargs=ZERO)
    status: int | None = Field(nullable=True)
    error: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    next_attempt_at: datetime | None = Field(sa_type=TIME, nullable=True, sa_column_kwargs=NOW)
    delivered_at: datetime | None = Field(sa_type=TIME, nullable=True)
