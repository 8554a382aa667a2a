"""Comparisons, choices and other feedback, as Alembic reads them. What a person said goes with the person (ON DELETE CASCADE)."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import JSON, BigInteger, Float, ForeignKeyConstraint, Index, SmallInteger, Text, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from app.database.tables.columns import EMPTY, NOW, OWNER_OF_ROW, TIME, ZERO, key_in_organisation
from app.database.tables.protection import ALL, OWN, visible_rows


class ComparisonRow(SQLModel, table=True):
    """Two reports over the evidence of `run_id`: its own and that of `made_run_id`. `failure` says why there is none."""

    __tablename__ = "comparisons"
    __table_args__ = (
        UniqueConstraint("organisation_id", "id", name="comparisons_in_organisation"),
        key_in_organisation("run_id", "runs.id"),
        key_in_organisation("made_run_id", "runs.id"),
        Index("comparisons_newest_first", "organisation_id", text("created_at DESC"), text("id DESC")),
        Index("comparisons_of_run", "run_id"),
        Index("comparisons_of_made_run", "made_run_id"),
        visible_rows(f"{OWN} AND may_read_evidence(run_id)", ALL),
    )
    id: UUID = Field(primary_key=True)
    organisation_id: UUID = Field(foreign_key="organisations.id", sa_column_kwargs=OWNER_OF_ROW, ondelete="CASCADE")
    run_id: UUID = Field()
    made_run_id: UUID = Field()
    created_by: UUID | None = Field(foreign_key="users.id", ondelete="SET NULL", nullable=True)
    evidence_digest: str = Field(sa_type=Text)
    failure: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class CandidateRow(SQLModel, table=True):
    """A report as it is compared, kept word for word, with its lineage. `digest` is the SHA-256 of `markdown`."""

    __tablename__ = "candidates"
    __table_args__ = (
        key_in_organisation("comparison_id", "comparisons.id"),
        visible_rows(f"{OWN} AND EXISTS (SELECT FROM comparisons p WHERE p.id = candidates.comparison_id)", ALL),
    )
    comparison_id: UUID = Field(primary_key=True)
    place: str = Field(primary_key=True, sa_type=Text)
    organisation_id: UUID = Field(foreign_key="organisations.id", sa_column_kwargs=OWNER_OF_ROW, ondelete="CASCADE")
    digest: str = Field(sa_type=Text)
    title: str = Field(sa_type=Text)
    markdown: str = Field(sa_type=Text)
    shown: dict[str, Any] = Field(sa_type=JSON)
    report: dict[str, Any] = Field(sa_type=JSON)
    lineage: dict[str, Any] = Field(sa_type=JSON)
    tokens: int = Field(sa_type=BigInteger)
    cost_microusd: int = Field(sa_type=BigInteger)


class ViewingRow(SQLModel, table=True):
    """How a reader was shown a comparison: drawn once."""

    __tablename__ = "viewings"
    __table_args__ = (
        UniqueConstraint("organisation_id", "comparison_id", "user_id", name="viewings_in_organisation"),
        key_in_organisation("comparison_id", "comparisons.id"),
        Index("viewings_of_user", "user_id"),
    )
    comparison_id: UUID = Field(primary_key=True)
    user_id: UUID = Field(primary_key=True, foreign_key="users.id", ondelete="CASCADE")
    organisation_id: UUID = Field(foreign_key="organisations.id", sa_column_kwargs=OWNER_OF_ROW, ondelete="CASCADE")
    left_place: str = Field(sa_type=Text)
    first_viewed_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    revealed_at: datetime | None = Field(sa_type=TIME, nullable=True)


class ChoiceRow(SQLModel, table=True):
    """A reader's choice: as sent, and as `outcome` in terms of the candidates. `annotation`: by an assignment."""

    __tablename__ = "choices"
    __table_args__ = (
        ForeignKeyConstraint(
            ["organisation_id", "comparison_id", "user_id"],
            ["viewings.organisation_id", "viewings.comparison_id", "viewings.user_id"],
            ondelete="CASCADE",
        ),
    )
    comparison_id: UUID = Field(primary_key=True)
    user_id: UUID = Field(primary_key=True)
    organisation_id: UUID = Field(foreign_key="organisations.id", sa_column_kwargs=OWNER_OF_ROW, ondelete="CASCADE")
    choice: dict[str, Any] = Field(sa_type=JSON)
    outcome: str = Field(sa_type=Text)
    annotation: bool = Field(sa_column_kwargs={"server_default": "false"})
    elapsed_seconds: float = Field(sa_type=Float)
    made_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    changed_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    changes: int = Field(sa_column_kwargs=ZERO)


class RatingRow(SQLModel, table=True):
    """Stars for a run's report; `report_digest` is the SHA-256 of the report's stored JSON."""

    __tablename__ = "ratings"
    __table_args__ = (
        key_in_organisation("run_id", "runs.id"),
        Index("ratings_of_user", "user_id"),
    )
    run_id: UUID = Field(primary_key=True)
    user_id: UUID = Field(primary_key=True, foreign_key="users.id", ondelete="CASCADE")
    organisation_id: UUID = Field(foreign_key="organisations.id", sa_column_kwargs=OWNER_OF_ROW, ondelete="CASCADE")
    stars: int = Field(sa_type=SmallInteger)
    comment: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    report_digest: str = Field(sa_type=Text)
    made_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class ClaimFlagRow(SQLModel, table=True):
    """A claim that a reader calls wrong, with its words: claims are counted from 0 in the report of `report_digest`."""

    __tablename__ = "claim_flags"
    __table_args__ = (
        key_in_organisation("run_id", "runs.id"),
        Index("claim_flags_of_user", "user_id"),
    )
    run_id: UUID = Field(primary_key=True)
    claim: int = Field(primary_key=True)
    user_id: UUID = Field(primary_key=True, foreign_key="users.id", ondelete="CASCADE")
    organisation_id: UUID = Field(foreign_key="organisations.id", sa_column_kwargs=OWNER_OF_ROW, ondelete="CASCADE")
    reason: str = Field(sa_type=Text)
    claim_text: str = Field(sa_type=Text)
    report_digest: str = Field(sa_type=Text)
    made_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class OrganisationConsentRow(SQLModel, table=True):
    """That an organisation lets its data go into training, since when. No row: it does not."""

    __tablename__ = "organisation_consents"
    organisation_id: UUID = Field(
        primary_key=True, foreign_key="organisations.id", sa_column_kwargs=OWNER_OF_ROW, ondelete="CASCADE"
    )
    given_by: UUID | None = Field(foreign_key="users.id", ondelete="SET NULL", nullable=True)
    since: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class PersonConsentRow(SQLModel, table=True):
    """That a person lets what they ask and say in an organisation go into training, since when."""

    __tablename__ = "person_consents"
    __table_args__ = (Index("person_consents_of_user", "user_id"),)
    organisation_id: UUID = Field(
        primary_key=True, foreign_key="organisations.id", sa_column_kwargs=OWNER_OF_ROW, ondelete="CASCADE"
    )
    user_id: UUID = Field(primary_key=True, foreign_key="users.id", ondelete="CASCADE")
    since: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class WriterDefaultRow(SQLModel, table=True):
    """How an organisation has its reports written unless a run says otherwise."""

    __tablename__ = "writer_defaults"
    organisation_id: UUID = Field(
        primary_key=True, foreign_key="organisations.id", sa_column_kwargs=OWNER_OF_ROW, ondelete="CASCADE"
    )
    writer: dict[str, Any] = Field(sa_type=JSON)
    set_by: UUID | None = Field(foreign_key="users.id", ondelete="SET NULL", nullable=True)
    set_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class AnnotationTaskRow(SQLModel, table=True):
    """A comparison that `overlap` annotators are to judge. `gold`, where set, is the outcome that an attentive one finds."""

    __tablename__ = "annotation_tasks"
    __table_args__ = (
        UniqueConstraint("organisation_id", "comparison_id", name="annotation_tasks_in_organisation"),
        key_in_organisation("comparison_id", "comparisons.id"),
    )
    comparison_id: UUID = Field(primary_key=True)
    organisation_id: UUID = Field(foreign_key="organisations.id", sa_column_kwargs=OWNER_OF_ROW, ondelete="CASCADE")
    overlap: int = Field(sa_type=SmallInteger)
    gold: str | None = Field(sa_type=Text, nullable=True)
    created_by: UUID | None = Field(foreign_key="users.id", ondelete="SET NULL", nullable=True)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class AssignmentRow(SQLModel, table=True):
    """A comparison given to an annotator: open until `finished_at` or, unanswered, until `expires_at`."""

    __tablename__ = "assignments"
    __table_args__ = (
        key_in_organisation("comparison_id", "annotation_tasks.comparison_id"),
        Index("assignments_once", "comparison_id", "user_id", unique=True),
        Index("assignments_of_user", "user_id"),
    )
    id: UUID = Field(primary_key=True)
    comparison_id: UUID = Field()
    user_id: UUID = Field(foreign_key="users.id", ondelete="CASCADE")
    organisation_id: UUID = Field(foreign_key="organisations.id", sa_column_kwargs=OWNER_OF_ROW, ondelete="CASCADE")
    assigned_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    expires_at: datetime = Field(sa_type=TIME)
    finished_at: datetime | None = Field(sa_type=TIME, nullable=True)
    skipped: str | None = Field(sa_type=Text, nullable=True)
