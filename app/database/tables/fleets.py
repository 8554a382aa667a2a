"""Fleets and their questions, as Alembic reads them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import JSON, BigInteger, CheckConstraint, Index, Text, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from app.database.tables.columns import ACTING_USER, EMPTY, NOW, OWNER_OF_ROW, TIME, ZERO, key_in_organisation
from app.database.tables.protection import for_worker_only
from app.domain.fleets import FleetWish


class FleetRow(SQLModel, table=True):
    """A system over a data set. `revision` grows whenever somebody adds or wishes something; `ended` counts ends."""

    __tablename__ = "fleets"
    __table_args__ = (
        UniqueConstraint("organisation_id", "id", name="fleets_in_organisation"),
        CheckConstraint(f"wish IN ({', '.join(repr(wish.value) for wish in FleetWish)})", name="fleets_wish"),
        Index("fleets_unfinished", "id", postgresql_where=text("ended_at IS NULL")),
        for_worker_only(),
    )
    id: UUID = Field(primary_key=True)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    at_once: int = Field()
    wish: str = Field(sa_type=Text, sa_column_kwargs={"server_default": "go"})
    gathered: bool = Field(sa_column_kwargs={"server_default": "false"})
    questions: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    ended: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    revision: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    detail: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    created_by: UUID | None = Field(foreign_key="users.id", ondelete="SET NULL", sa_column_kwargs=ACTING_USER)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    ended_at: datetime | None = Field(sa_type=TIME, nullable=True)


class FleetQuestionRow(SQLModel, table=True):
    """One question: waiting without a run, under way with one, ended with a number. The run may be deleted before it."""

    __tablename__ = "fleet_questions"
    __table_args__ = (
        key_in_organisation("fleet_id", "fleets.id"),
        UniqueConstraint("fleet_id", "name", name="fleet_questions_once"),
        Index("fleet_questions_waiting", "fleet_id", "position", postgresql_where=text("run_id IS NULL AND number IS NULL")),
        Index("fleet_questions_under_way", "fleet_id", "run_id", postgresql_where=text("run_id IS NOT NULL AND number IS NULL")),
        Index("fleet_questions_ended", "fleet_id", "number", postgresql_where=text("number IS NOT NULL")),
        for_worker_only(),
    )
    fleet_id: UUID = Field(primary_key=True)
    position: int = Field(primary_key=True, sa_type=BigInteger)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    name: str = Field(sa_type=Text)
    query: dict[str, Any] = Field(sa_type=JSON)
    run_id: UUID | None = Field(nullable=True)
    number: int | None = Field(sa_type=BigInteger, nullable=True)
    status: str | None = Field(sa_type=Text, nullable=True)
    detail: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
