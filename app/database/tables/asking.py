"""Drafts before a run, and the rubric that a run is held to, as Alembic reads them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import JSON, BigInteger, Index, Text
from sqlmodel import Field, SQLModel

from app.database.tables.columns import ACTING_KEY, EMPTY, NOW, OWNER_OF_ROW, TIME, ZERO
from app.database.tables.protection import own_rows, rows_of_visible_runs


class RunRubricRow(SQLModel, table=True):
    """What a run is held to. `drafted` is the rubric before `edited_by` changed it: both together are training data."""

    __tablename__ = "run_rubrics"
    __table_args__ = (Index("run_rubrics_of_editor", "edited_by"), rows_of_visible_runs("SELECT, INSERT, UPDATE"))
    run_id: UUID = Field(primary_key=True, foreign_key="runs.id", ondelete="CASCADE")
    drafted: dict[str, Any] | None = Field(sa_type=JSON, nullable=True)
    rubric: dict[str, Any] = Field(sa_type=JSON)
    edited_at: datetime | None = Field(sa_type=TIME, nullable=True)
    edited_by: UUID | None = Field(foreign_key="users.id", ondelete="SET NULL", nullable=True)
    scorecard: dict[str, Any] | None = Field(sa_type=JSON, nullable=True)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class DraftRow(SQLModel, table=True):
    """What was drafted for a question that is no run yet, and what that cost; of a replay, the cost alone.

    Retention empties question and body.
    """

    __tablename__ = "drafts"
    __table_args__ = (Index("drafts_of_organisation", "organisation_id", "created_at"), own_rows("SELECT, INSERT"))
    id: UUID = Field(primary_key=True)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    kind: str = Field(sa_type=Text)
    question: str = Field(sa_type=Text)
    body: dict[str, Any] = Field(sa_type=JSON)
    model: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    input_tokens: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    output_tokens: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    cost_microusd: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    created_with: UUID | None = Field(nullable=True, sa_column_kwargs=ACTING_KEY)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
