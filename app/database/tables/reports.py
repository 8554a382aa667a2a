"""What readers make of finished reports, as Alembic reads it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import JSON, CheckConstraint, Index, LargeBinary, Text, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from app.database.tables.columns import ACTING_KEY, ACTING_USER, EMPTY, NOW, OWNER_OF_ROW, TIME, key_in_organisation
from app.database.tables.protection import evidence_of_visible_runs, own_rows, rows_of_visible_runs
from app.domain.revision import TaskKind, TaskStatus, VersionOrigin


def _one_of(column: str, values: Any) -> str:
    return f"{column} IN ({', '.join(repr(value.value) for value in values)})"


class ReportVersionRow(SQLModel, table=True):
    """A report as a reader changed it, from the second version on."""

    __tablename__ = "report_versions"
    __table_args__ = (
        CheckConstraint(_one_of("origin", VersionOrigin), name="report_versions_origin"),
        rows_of_visible_runs("SELECT, INSERT"),
    )
    run_id: UUID = Field(primary_key=True, foreign_key="runs.id", ondelete="CASCADE")
    n: int = Field(primary_key=True)
    origin: str = Field(sa_type=Text)
    based_on: int = Field()
    section: int | None = Field(nullable=True)
    note: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    usage: dict[str, Any] = Field(sa_type=JSON)
    report: dict[str, Any] = Field(sa_type=JSON)
    markdown: str = Field(sa_type=Text)
    html: str = Field(sa_type=Text)
    evidence: dict[str, Any] = Field(sa_type=JSON)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class ReportTaskRow(SQLModel, table=True):
    """A change of a report, a question to its evidence, or a judging. No two changes begin with the same version."""

    __tablename__ = "report_tasks"
    __table_args__ = (
        CheckConstraint(_one_of("kind", TaskKind), name="report_tasks_kind"),
        CheckConstraint(_one_of("status", TaskStatus), name="report_tasks_status"),
        Index("report_tasks_of_run", "run_id", text("created_at DESC"), text("id DESC")),
        Index(
            "report_tasks_one_change",
            "run_id",
            "base",
            unique=True,
            postgresql_where=text("kind IN ('edit', 'rewrite', 'deepen') AND status <> 'failed'"),
        ),
        Index("report_tasks_ended", "finished_at"),
        Index("report_tasks_one_scoring", "run_id", unique=True, postgresql_where=text("kind = 'score' AND status = 'queued'")),
        Index("report_tasks_queued", "created_at", postgresql_where=text("status = 'queued'")),
        evidence_of_visible_runs("SELECT, INSERT", besides="report_tasks.kind <> 'question'"),
    )
    id: UUID = Field(primary_key=True)
    run_id: UUID = Field(foreign_key="runs.id", ondelete="CASCADE")
    kind: str = Field(sa_type=Text)
    base: int = Field()
    request: dict[str, Any] = Field(sa_type=JSON)
    status: str = Field(sa_type=Text, sa_column_kwargs={"server_default": "queued"})
    detail: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    version: int | None = Field(nullable=True)
    answer: dict[str, Any] | None = Field(sa_type=JSON, nullable=True)
    usage: dict[str, Any] | None = Field(sa_type=JSON, nullable=True)
    created_with: UUID | None = Field(nullable=True, sa_column_kwargs=ACTING_KEY)
    created_by: UUID | None = Field(foreign_key="users.id", ondelete="SET NULL", sa_column_kwargs=ACTING_USER)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    finished_at: datetime | None = Field(sa_type=TIME, nullable=True)


class ReportShareRow(SQLModel, table=True):
    """A link that lets anybody read one version of a report. Of its token only the SHA-256 is known here."""

    __tablename__ = "report_shares"
    __table_args__ = (
        key_in_organisation("run_id", "runs.id"),
        UniqueConstraint("token_hash", name="report_shares_token"),
        Index("report_shares_of_run", "run_id"),
        own_rows(
            "INSERT, UPDATE (revoked_at), "
            "SELECT (id, organisation_id, run_id, version, created_at, expires_at, revoked_at, last_read_at)"
        ),
    )
    id: UUID = Field(primary_key=True)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    run_id: UUID = Field()
    version: int = Field()
    token_hash: bytes = Field(sa_type=LargeBinary)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    expires_at: datetime = Field(sa_type=TIME)
    revoked_at: datetime | None = Field(sa_type=TIME, nullable=True)
    last_read_at: datetime | None = Field(sa_type=TIME, nullable=True)
