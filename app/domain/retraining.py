"""Cycles of retraining and their append-only logs."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import Field

from app.domain.value import Value


class CycleState(StrEnum):
    """The state of a cycle of retraining. `waiting` waits for a person's approval, for data or for a device."""

    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    PROMOTED = "promoted"
    REFUSED = "refused"
    STOPPED = "stopped"
    FAILED = "failed"


class CycleEventType(StrEnum):
    """The kinds of events of a cycle."""

    CYCLE_STARTED = "cycle_started"
    STATE_CHANGED = "state_changed"
    STEP_STARTED = "step_started"
    STEP_PROGRESS = "step_progress"
    STEP_FINISHED = "step_finished"
    STEP_SKIPPED = "step_skipped"
    VERSION_MADE = "version_made"
    GATE_DECIDED = "gate_decided"
    CANARY_STARTED = "canary_started"
    CANARY_ENDED = "canary_ended"
    ALIAS_MOVED = "alias_moved"


class CycleEvent(Value):
    """One line of a cycle's append-only log. `seq` counts from 1 without gaps."""

    cycle: UUID
    seq: int
    type: CycleEventType
    payload: dict[str, Any] = Field(default={})
    at: datetime


class Cycle(Value):
    """A cycle of retraining: its plan as it was read from TOML, and where it stands."""

    id: UUID
    plan: dict[str, Any]
    state: CycleState = CycleState.RUNNING
    detail: str = ""
    asked_by: str
    created_at: datetime
    ended_at: datetime | None = None
