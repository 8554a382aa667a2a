"""Runs and what they store, as Alembic reads them. Nothing at run time imports the tables: storage has its own SQL.

Documents that are written once and handed on unread are `json` or `bytea`, not `jsonb`: a model may well answer with a
NUL character, which `jsonb` refuses and these keep.
"""

from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, JSON, BigInteger, CheckConstraint, Index, LargeBinary, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from app.database.tables.columns import (
    ACTING_KEY,
    ACTING_USER,
    EMPTY,
    NOW,
    OWNER_OF_ROW,
    TIME,
    UNLOGGED,
    ZERO,
    key_in_organisation,
)
from app.database.tables.protection import OWN, evidence_of_visible_runs, for_worker_only, rows_of_visible_runs, visible_rows
from app.domain.run import RunStatus


class RunRow(SQLModel, table=True):
    """What was asked and where the run stands. `dispatched_at` is null until a workflow was started for it."""

    __tablename__ = "runs"
    __table_args__ = (
        UniqueConstraint("organisation_id", "id", name="runs_in_organisation"),
        key_in_organisation("made_for", "runs.id"),
        key_in_organisation("fleet_id", "fleets.id"),
        Index("runs_newest_first", "organisation_id", text("created_at DESC"), text("id DESC")),
        Index("runs_made_for", "made_for"),
        Index("runs_of_fleet", "fleet_id", postgresql_where=text("fleet_id IS NOT NULL")),
        Index(
            "runs_listed",
            "organisation_id",
            text("created_at DESC"),
            text("id DESC"),
            postgresql_where=text("made_for IS NULL AND fleet_id IS NULL"),
        ),
        Index("runs_ended", "organisation_id", "finished_at"),
        Index("runs_under_way", "organisation_id", postgresql_where=text("finished_at IS NULL")),
        Index(
            "runs_side_by_side",
            text("(query ->> 'evidence_of'::text)"),
            postgresql_where=text("(query ->> 'evidence_of'::text) IS NOT NULL"),
        ),
        Index("runs_undispatched", "created_at", postgresql_where=text("dispatched_at IS NULL")),
        CheckConstraint(f"status IN ({', '.join(repr(status.value) for status in RunStatus)})", name="runs_status"),
    )
    id: UUID = Field(primary_key=True)
    query: dict[str, Any] = Field(sa_type=JSON)
    status: str = Field(sa_type=Text, sa_column_kwargs={"server_default": "queued"})
    detail: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    plan: dict[str, Any] | None = Field(sa_type=JSON, nullable=True)
    dropped: list[str] = Field(sa_type=ARRAY(Text), sa_column_kwargs={"server_default": "{}"})
    finish: bool = Field(sa_column_kwargs={"server_default": "false"})
    approved: bool = Field(sa_column_kwargs={"server_default": "false"})
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    dispatched_at: datetime | None = Field(sa_type=TIME, nullable=True)
    finished_at: datetime | None = Field(sa_type=TIME, nullable=True)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    made_for: UUID | None = Field(nullable=True)
    created_with: UUID | None = Field(nullable=True, sa_column_kwargs=ACTING_KEY)
    fleet_id: UUID | None = Field(nullable=True)
    created_by: UUID | None = Field(foreign_key="users.id", ondelete="SET NULL", sa_column_kwargs=ACTING_USER)


class LedgerRow(SQLModel, table=True):
    """What changes with every turn of a run, kept narrow: its row lock is what makes totals and sequence numbers exact."""

    __tablename__ = "ledgers"
    __table_args__ = (
        CheckConstraint("control IN ('none', 'pause', 'cancel')", name="ledgers_control"),
        rows_of_visible_runs("SELECT, INSERT, UPDATE") | {"postgresql_with": {"fillfactor": 40}},
    )
    run_id: UUID = Field(primary_key=True, foreign_key="runs.id", ondelete="CASCADE")
    control: str = Field(sa_type=Text, sa_column_kwargs={"server_default": "none"})
    max_tokens: int | None = Field(sa_type=BigInteger, nullable=True)
    max_cost_microusd: int | None = Field(sa_type=BigInteger, nullable=True)
    max_seconds: int | None = Field(sa_type=BigInteger, nullable=True)
    model_calls: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    tool_calls: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    input_tokens: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    output_tokens: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    cost_microusd: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    reserved_tokens: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    reserved_cost_microusd: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    active_seconds: float = Field(sa_column_kwargs=ZERO)
    running_since: datetime | None = Field(sa_type=TIME, nullable=True)
    last_seq: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    updated_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class StageRow(SQLModel, table=True):
    """One stage of a run. `attempt` fences off writers of an attempt that was taken for dead.

    `answered` holds what requests that leave no turn were told, so that one which is sent twice counts once.
    """

    __tablename__ = "stages"
    __table_args__ = evidence_of_visible_runs("SELECT, INSERT", besides="stages.stage IN ('plan', 'report')") | {
        "postgresql_with": {"fillfactor": 60}
    }
    run_id: UUID = Field(primary_key=True, foreign_key="runs.id", ondelete="CASCADE")
    stage: str = Field(primary_key=True, sa_type=Text)
    attempt: int = Field(sa_column_kwargs=ZERO)
    done: bool = Field(sa_column_kwargs={"server_default": "false"})
    dropped: bool = Field(sa_column_kwargs={"server_default": "false"})
    result: bytes | None = Field(sa_type=LargeBinary, nullable=True)
    notes_upto: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    reserved_tokens: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    reserved_cost_microusd: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    opened_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    closed_at: datetime | None = Field(sa_type=TIME, nullable=True)
    answered: dict[str, Any] = Field(sa_type=JSONB, sa_column_kwargs={"server_default": text("'{}'::jsonb")})


class TurnRow(SQLModel, table=True):
    """One stored turn. A turn whose request changed is superseded by a higher `revision`, never overwritten.

    `attempt` is the stage's attempt that made it; null where the turn was copied.
    """

    __tablename__ = "turns"
    __table_args__ = evidence_of_visible_runs()
    run_id: UUID = Field(primary_key=True, foreign_key="runs.id", ondelete="CASCADE")
    stage: str = Field(primary_key=True, sa_type=Text)
    agent: str = Field(primary_key=True, sa_type=Text)
    ordinal: int = Field(primary_key=True)
    revision: int = Field(primary_key=True)
    seq: int = Field(sa_type=BigInteger)
    kind: str = Field(sa_type=Text)
    step: str = Field(sa_type=Text)
    digest: str = Field(sa_type=Text)
    granted: bool = Field()
    body: bytes = Field(sa_type=LargeBinary)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    attempt: int | None = Field(nullable=True)


class EventRow(SQLModel, table=True):
    """One line of a run's log; `seq` counts from 1 without gaps. `origin` is who told it outside a turn, and its number there."""

    __tablename__ = "events"
    __table_args__ = rows_of_visible_runs("SELECT, INSERT")
    run_id: UUID = Field(primary_key=True, foreign_key="runs.id", ondelete="CASCADE")
    seq: int = Field(primary_key=True, sa_type=BigInteger)
    type: str = Field(sa_type=Text)
    agent: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    payload: dict[str, Any] = Field(sa_type=JSON)
    at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    origin: str | None = Field(default=None, sa_type=Text)


class NoteRow(SQLModel, table=True):
    """A reader's note, under the sequence number of the event that announced it."""

    __tablename__ = "notes"
    __table_args__ = rows_of_visible_runs("SELECT, INSERT")
    run_id: UUID = Field(primary_key=True, foreign_key="runs.id", ondelete="CASCADE")
    seq: int = Field(primary_key=True, sa_type=BigInteger)
    text: str = Field(sa_type=Text)
    at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class ToolCallRow(SQLModel, table=True):
    """The run's tool memory: what a call brought back, under the key of its tool and normalised arguments."""

    __tablename__ = "tool_calls"
    __table_args__ = evidence_of_visible_runs()
    run_id: UUID = Field(primary_key=True, foreign_key="runs.id", ondelete="CASCADE")
    key: str = Field(primary_key=True, sa_type=Text)
    result: bytes = Field(sa_type=LargeBinary)
    at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class SnapshotRow(SQLModel, table=True):
    """The stored copy of a cited source (UTF-8), named by its SHA-256 (hexadecimal). `first_seen` moves on when it is wanted."""

    __tablename__ = "snapshots"
    __table_args__ = visible_rows("EXISTS (SELECT FROM run_sources s WHERE s.hash = snapshots.hash)", "SELECT")
    hash: str = Field(primary_key=True, sa_type=Text)
    body: bytes = Field(sa_type=LargeBinary)
    first_seen: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


# The same text may stand in another collection: who may use that one reads it.
READABLE = """(NOT own OR may_read_evidence(run_id) OR EXISTS (
    SELECT FROM collection_documents d WHERE d.snapshot = run_sources.hash AND d.deleted_at IS NULL))"""


class RunSourceRow(SQLModel, table=True):
    """A source that a run cites: who sees the row may read the stored copy. It is `own` unless known to be open to all."""

    __tablename__ = "run_sources"
    hash: str = Field(primary_key=True, sa_type=Text)
    organisation_id: UUID = Field(
        primary_key=True, foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW
    )
    run_id: UUID = Field(primary_key=True)
    own: bool = Field(sa_column_kwargs={"server_default": "true"})
    __table_args__ = (
        key_in_organisation("run_id", "runs.id"),
        Index("run_sources_of_run", "run_id"),
        visible_rows(f"{OWN} AND {READABLE}", "SELECT"),
    )


class ReportRow(SQLModel, table=True):
    """A finished report and its renderings. One that was made to be compared is no report of the organisation's yet."""

    __tablename__ = "reports"
    __table_args__ = visible_rows(
        "EXISTS (SELECT FROM runs r WHERE r.id = reports.run_id AND (r.made_for IS NULL OR may_read_evidence(r.id)))", "SELECT"
    )
    run_id: UUID = Field(primary_key=True, foreign_key="runs.id", ondelete="CASCADE")
    report: dict[str, Any] = Field(sa_type=JSON)
    markdown: str = Field(sa_type=Text)
    html: str = Field(sa_type=Text)
    evidence: dict[str, Any] = Field(sa_type=JSON)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class OutsideLimitRow(SQLModel, table=True):
    """When a provider's bucket has its next token."""

    __tablename__ = "outside_limits"
    __table_args__ = for_worker_only() | UNLOGGED | {"postgresql_with": {"fillfactor": 20}}
    lane: str = Field(primary_key=True, sa_type=Text)
    next_at: datetime = Field(sa_type=TIME)


class OutsideResultRow(SQLModel, table=True):
    """A cached result of an outside call, or the claim of the worker that is making it."""

    __tablename__ = "outside_results"
    __table_args__ = for_worker_only() | UNLOGGED
    key: str = Field(primary_key=True, sa_type=Text)
    body: bytes | None = Field(sa_type=LargeBinary, nullable=True)
    fetched_at: datetime | None = Field(sa_type=TIME, nullable=True)
    claimed_until: datetime | None = Field(sa_type=TIME, nullable=True)


class OutsideTextRow(SQLModel, table=True):
    """A text that came from outside (UTF-8), by its SHA-256, until a finding cites it or it is too old."""

    __tablename__ = "outside_texts"
    __table_args__ = for_worker_only()
    hash: str = Field(primary_key=True, sa_type=Text)
    body: bytes = Field(sa_type=LargeBinary)
    fetched_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class OutsideCountRow(SQLModel, table=True):
    """How many outside calls of an organisation ended how, and within how many milliseconds."""

    __tablename__ = "outside_counts"
    __table_args__ = for_worker_only()
    day: date = Field(primary_key=True)
    organisation_id: UUID = Field(primary_key=True)
    tool: str = Field(primary_key=True, sa_type=Text)
    outcome: str = Field(primary_key=True, sa_type=Text)
    within_ms: int = Field(primary_key=True)
    n: int = Field(sa_type=BigInteger)
