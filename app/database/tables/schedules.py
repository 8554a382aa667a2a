"""Schedules, their askings, and messages about what these found, as Alembic reads them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, JSON, CheckConstraint, Index, Text, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from app.database.tables.columns import ACTING_USER, EMPTY, NO_ITEMS, NOW, OWNER_OF_ROW, TIME, ZERO, key_in_organisation
from app.database.tables.protection import own_rows
from app.domain.deliveries import MailState
from app.domain.schedules import Outcome, Overlap


class ScheduleRow(SQLModel, table=True):
    """A question with its timing. `synced` is the `revision` that the workflow service knows."""

    __tablename__ = "schedules"
    __table_args__ = (
        UniqueConstraint("organisation_id", "id", name="schedules_in_organisation"),
        key_in_organisation("baseline_id", "runs.id", "SET NULL (baseline_id)"),
        CheckConstraint(f"overlap IN ({', '.join(repr(overlap.value) for overlap in Overlap)})", name="schedules_overlap"),
        Index("schedules_newest_first", "organisation_id", text("created_at DESC"), text("id DESC")),
        Index("schedules_unsynced", "id", postgresql_where=text("synced < revision")),
    )
    id: UUID = Field(primary_key=True)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    name: str = Field(sa_type=Text)
    query: dict[str, Any] = Field(sa_type=JSON)
    cron: str = Field(sa_type=Text)
    time_zone: str = Field(sa_type=Text)
    jitter_s: int = Field()
    overlap: str = Field(sa_type=Text)
    deliver_to: list[str] = Field(sa_type=ARRAY(Text), sa_column_kwargs=NO_ITEMS)
    paused: bool = Field(sa_column_kwargs={"server_default": "false"})
    detail: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    baseline_id: UUID | None = Field(nullable=True)
    revision: int = Field(sa_column_kwargs={"server_default": text("1")})
    synced: int = Field(sa_column_kwargs=ZERO)
    created_by: UUID | None = Field(foreign_key="users.id", ondelete="SET NULL", sa_column_kwargs=ACTING_USER)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    deleted_at: datetime | None = Field(sa_type=TIME, nullable=True)


class ScheduleFiringRow(SQLModel, table=True):
    """One asking of a schedule, under the time it was due."""

    __tablename__ = "schedule_firings"
    __table_args__ = (
        key_in_organisation("schedule_id", "schedules.id"),
        key_in_organisation("run_id", "runs.id", "SET NULL (run_id)"),
        key_in_organisation("baseline_id", "runs.id", "SET NULL (baseline_id)"),
        CheckConstraint(f"outcome IN ({', '.join(repr(outcome.value) for outcome in Outcome)})", name="schedule_firings_outcome"),
        own_rows("SELECT"),
    )
    schedule_id: UUID = Field(primary_key=True)
    due_at: datetime = Field(primary_key=True, sa_type=TIME)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    outcome: str = Field(sa_type=Text)
    detail: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    run_id: UUID | None = Field(nullable=True)
    baseline_id: UUID | None = Field(nullable=True)
    changes: dict[str, Any] | None = Field(sa_type=JSON, nullable=True)
    repeated_calls: int = Field(sa_column_kwargs=ZERO)
    started_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    ended_at: datetime | None = Field(sa_type=TIME, nullable=True)


class DeliveryRow(SQLModel, table=True):
    """One message about an asking to one address, and how its sending went. Its id is also the token of its unsubscribe link."""

    __tablename__ = "deliveries"
    __table_args__ = (
        key_in_organisation("schedule_id", "schedules.id"),
        CheckConstraint(f"state IN ({', '.join(repr(state.value) for state in MailState)})", name="deliveries_state"),
        UniqueConstraint("schedule_id", "due_at", "address", name="deliveries_once"),
        own_rows("SELECT"),
    )
    id: UUID = Field(primary_key=True)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    schedule_id: UUID = Field()
    due_at: datetime = Field(sa_type=TIME)
    address: str = Field(sa_type=Text)
    state: str = Field(sa_type=Text, sa_column_kwargs={"server_default": "waiting"})
    attempts: int = Field(sa_column_kwargs=ZERO)
    detail: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    made_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    sent_at: datetime | None = Field(sa_type=TIME, nullable=True)


class UnsubscribeRow(SQLModel, table=True):
    """Who wants no more messages about a schedule."""

    __tablename__ = "unsubscribes"
    __table_args__ = (key_in_organisation("schedule_id", "schedules.id"), own_rows("SELECT"))
    schedule_id: UUID = Field(primary_key=True)
    address: str = Field(primary_key=True, sa_type=Text)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
