"""A run and its append-only event log."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import Field

from app.domain.budget import Budget, Usage
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.value import Value


class RunStatus(StrEnum):
    """The status of a run. `awaiting_approval`, `paused` and `budget_reached` wait for a person and keep everything."""

    QUEUED = "queued"
    RUNNING = "running"
    AWAITING_APPROVAL = "awaiting_approval"
    PAUSED = "paused"
    BUDGET_REACHED = "budget_reached"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def finished(self) -> bool:
        """True when nothing more will happen."""
        return self in (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED)


class WaitReason(StrEnum):
    """Why a run waits although no person asked it to.

    It has paused by itself: `model_refused`, the model's server refuses every request (key, address, name of the model);
    `context_too_long`, every request is longer than the model's context. It is at work and goes on by itself: `model_busy`, the
    model's server asks for a long patience.
    """

    MODEL_REFUSED = "model_refused"
    CONTEXT_TOO_LONG = "context_too_long"
    MODEL_BUSY = "model_busy"


class EventType(StrEnum):
    """The kinds of events; docs/events.md gives each payload. `gap` is sent to watchers and never in a log."""

    RUN_CREATED = "run_created"
    STATUS_CHANGED = "status_changed"
    STAGE_STARTED = "stage_started"
    STAGE_FINISHED = "stage_finished"
    PLAN_MADE = "plan_made"
    PLAN_REVISED = "plan_revised"
    MODEL_CALL = "model_call"
    TOOL_CALL = "tool_call"
    WAITING = "waiting"
    NOTE_ADDED = "note_added"
    BUDGET_CHANGED = "budget_changed"
    WARNING = "warning"
    RUBRIC_DRAFTED = "rubric_drafted"
    RUBRIC_EDITED = "rubric_edited"
    SCORECARD_READY = "scorecard_ready"
    OUTLINE_MADE = "outline_made"
    SECTION_WRITTEN = "section_written"
    REPORT_READY = "report_ready"
    GAP = "gap"


class RunEvent(Value):
    """One line of the log. `seq` counts from 1 within the run without gaps; a watcher resumes after the last one it saw."""

    run_id: UUID
    seq: int
    type: EventType
    agent: str = ""
    payload: dict[str, Any] = Field(default={})
    at: datetime


class Run(Value):
    """A run as its owner sees it. `reason` says why it waits although no person asked it to."""

    id: UUID
    query: ResearchQuery
    status: RunStatus
    detail: str = ""
    reason: WaitReason | None = None
    plan: ResearchPlan | None = None
    usage: Usage = Usage()
    budget: Budget = Budget()
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None = None
    last_seq: int = 0
