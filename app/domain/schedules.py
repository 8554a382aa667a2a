"""Questions that are asked again and again, and what each asking found changed."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from app.domain.changes import Changes
from app.domain.query import ResearchQuery
from app.domain.value import Value

MAX_SCHEDULES = 100
MAX_RECIPIENTS = 20
LIVING_WORKFLOW = "LivingReportWorkflow"


class Overlap(StrEnum):
    """What becomes of an asking that is due while the one before it goes on."""

    SKIP = "skip"
    WAIT = "wait"


class Timing(Value):
    """When to ask: `cron` has five fields and counts in `time_zone`; each asking begins up to `jitter_s` seconds later."""

    cron: str = Field(max_length=100, examples=["0 8 * * mon"])
    time_zone: str = Field(default="UTC", max_length=64, examples=["Europe/Berlin"])
    jitter_s: int = Field(default=60, ge=0, le=3_600)
    overlap: Overlap = Overlap.SKIP


class Outcome(StrEnum):
    """How an asking ended. `first`: there was no report yet to compare with."""

    RUNNING = "running"
    FIRST = "first"
    UNCHANGED = "unchanged"
    CHANGED = "changed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Firing(Value):
    """One asking. `run_id` is the run it needed, none where nothing had changed; `baseline_id` what it is compared to.

    `repeated_calls` counts the searches and pages that were looked up again to find out.
    """

    schedule_id: UUID
    due_at: datetime
    outcome: Outcome
    detail: str = ""
    run_id: UUID | None = None
    baseline_id: UUID | None = None
    changes: Changes = Changes()
    repeated_calls: int = 0
    started_at: datetime
    ended_at: datetime | None = None


class Schedule(Value):
    """A question with its timing. `detail` says why it was paused, when that was not a person's doing."""

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
    """What a schedule's workflow is told: which schedule. The time it was due comes with the workflow."""

    schedule_id: UUID


def schedule_workflow_id(schedule: UUID) -> str:
    """The id of a schedule with the workflow service, and the beginning of its workflows' ids."""
    return f"schedule-{schedule}"
