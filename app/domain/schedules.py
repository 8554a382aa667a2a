"""Questions that are asked again and again, and the changes that each asking found."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from app.domain.changes import ReportChanges
from app.domain.query import ResearchQuery
from app.domain.value import Value

MAX_SCHEDULES = 100
MAX_RECIPIENTS = 20
LIVING_WORKFLOW = "LivingReportWorkflow"


class Overlap(StrEnum):
    """The fate of an asking that is due while the one before it goes on."""

    SKIP = "skip"
    WAIT = "wait"


class Timing(Value):
    """The times of askings: `cron` has five fields and counts in `time_zone`; each begins up to `jitter_s` seconds later."""

    cron: str = Field(max_length=100, examples=["0 8 * * mon"])
    time_zone: str = Field(default="UTC", max_length=64, examples=["Europe/Berlin"])
    jitter_s: int = Field(default=60, ge=0, le=3_600)
    overlap: Overlap = Overlap.SKIP


class Outcome(StrEnum):
    """The outcome of an asking. `first`: there was no report yet to compare with."""

    RUNNING = "running"
    FIRST = "first"
    UNCHANGED = "unchanged"
    CHANGED = "changed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Firing(Value):
    """One asking. `run_id` is the run it needed, null where nothing had changed; `baseline_id` is the run it is compared with.

    `repeated_calls` counts the searches and pages that were looked up again.
    """

    schedule_id: UUID
    due_at: datetime
    outcome: Outcome
    detail: str = ""
    run_id: UUID | None = None
    baseline_id: UUID | None = None
    changes: ReportChanges = ReportChanges()
    repeated_calls: int = 0
    started_at: datetime
    ended_at: datetime | None = None


class Schedule(Value):
    """A question with its timing. `detail` says why it was paused, if no person did that."""

    id: UUID
    name: str
    query: ResearchQuery
    timing: Timing
    deliver_to: tuple[str, ...] = ()
    paused: bool = False
    detail: str = ""
    baseline_id: UUID | None = None
    created_by: UUID | None = None
    created_at: datetime
    next_at: datetime | None = None


class Firings(Value):
    """The input of a schedule's workflow: which schedule. The due time comes with the workflow."""

    schedule_id: UUID


def schedule_workflow_id(schedule: UUID) -> str:
    """Return the id of a schedule in the workflow service, which begins its workflows' ids."""
    return f"schedule-{schedule}"
