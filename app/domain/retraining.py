"""Cycles of retraining: their plan, steps and outcomes, and their append-only logs."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from app.domain.served_models import ServedModel
from app.domain.split import HELD_OUT, Split
from app.domain.training_stage import THE_GENERATOR, TrainingStage
from app.domain.value import Value

RETRAINING_WORKFLOW = "RetrainingWorkflow"
CYCLE_WAKE = "wake"


class CycleState(StrEnum):
    """The state of a cycle of retraining. `waiting` waits for a person's approval or for a device.

    It ends as `promoted` (a version serves), `refused` (nothing was good enough), `lacking` (too little data for every stage),
    `stopped` by a person, or `failed`.
    """

    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    PROMOTED = "promoted"
    REFUSED = "refused"
    LACKING = "lacking"
    STOPPED = "stopped"
    FAILED = "failed"

    @property
    def finished(self) -> bool:
        """True when nothing more will happen."""
        return self not in (CycleState.RUNNING, CycleState.WAITING, CycleState.PAUSED)


class CycleWish(StrEnum):
    """The wish of the people who watch a cycle. `stop_after` ends it once the step in hand is over."""

    GO = "go"
    PAUSE = "pause"
    STOP_AFTER = "stop_after"
    STOP = "stop"


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


class Caps(Value):
    """The most that a cycle may take, stated before it starts: money for judges and samples, and hours of devices."""

    usd: float = Field(default=10.0, ge=0)
    device_hours: float = Field(default=24.0, gt=0)


class CanaryPlan(Value):
    """How a candidate that passed its gate is tried: on which share of the organisations, how long, and on how many runs.

    Of the runs of people who agreed, `compare` is the share that gets a second report by the other arm's model, for a choice.
    """

    share: float = Field(default=0.2, gt=0, le=1)
    compare: float = Field(default=0.1, ge=0, le=1)
    least_runs: int = Field(default=30, ge=0)
    longest: timedelta = timedelta(days=14)


class HeldOut(Value):
    """The shares of the newest questions that nothing learns from: the newest for the test, the others for the validation."""

    test: float = Field(default=HELD_OUT[Split.TEST], gt=0, le=0.8)
    validation: float = Field(default=HELD_OUT[Split.VALIDATION], gt=0, le=0.19)

    @property
    def shares(self) -> Mapping[Split, float]:
        """The shares by their sides, in the order in which they are held out."""
        return {Split.TEST: self.test, Split.VALIDATION: self.validation}


class DataChecks(Value):
    """What preferences must have before anything learns from them.

    `least_agreement` is that of readers who judged the same pair. A reader or an organisation has at most `most_share` of the
    votes that are learned from, and a vote took at least `least_seconds`: what exceeds these is left out. `most_one_sided` is how
    far from .5 the share of preferred reports that stood left may certainly lie.
    """

    least_pairs: int = Field(default=100, ge=1)
    least_readers: int = Field(default=5, ge=1)
    least_agreement: float = Field(default=0.6, ge=0, le=1)
    most_share: float = Field(default=0.25, gt=0, le=1)
    least_seconds: float = Field(default=3.0, ge=0)
    most_one_sided: float = Field(default=0.1, ge=0, le=0.5)


PLAN_NAME = "^[a-z0-9][a-z0-9-]{0,59}$"
PlanName = Annotated[str, StringConstraints(pattern=PLAN_NAME)]


class CyclePlan(Value):
    """The plan of a cycle, read from TOML.

    `canary = false` leaves the gate to decide alone. `approve` names the steps before which a person of the operator's must
    agree, such as `rubric.canary`. `device` is leased while something trains; empty: none is needed. `since` is the earliest
    moment of what is learned from.
    """

    name: PlanName
    since: datetime
    caps: Caps = Caps()
    checks: DataChecks = DataChecks()
    held_out: HeldOut = HeldOut()
    canary: Annotated[CanaryPlan | None, BeforeValidator(lambda told: None if told is False else told)] = CanaryPlan()
    approve: tuple[str, ...] = ()
    device: str = ""
    stages: tuple[TrainingStage, ...] = Field(min_length=1, max_length=8)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the plan names, beside it."""
        return tuple(dict.fromkeys(name for stage in self.stages for name in (stage.config, stage.gate, *stage.exam)))

    @model_validator(mode="after")
    def _check_stages(self) -> Self:
        names = [stage.name for stage in self.stages]
        if len(set(names)) < len(names):
            raise ValueError("two stages have the same name; give each its own")
        for place, stage in enumerate(self.stages):
            if stage.needs is not None and stage.needs not in names[:place]:
                raise ValueError(f"the stage {stage.name} needs {stage.needs}, which is no stage before it")
            if stage.generator not in (None, THE_GENERATOR, *(each.name for each in self.stages[:place] if each.makes_rubrics)):
                raise ValueError(f"the generator of {stage.name}, {stage.generator}, is no stage before it with the role rubric")
        return self


class StepVerdict(StrEnum):
    """The verdict of a step. `lacking`: there is too little data, and the detail says how much is missing."""

    DONE = "done"
    REFUSED = "refused"
    LACKING = "lacking"
    SKIPPED = "skipped"
    FAILED = "failed"


class StepOutcome(Value):
    """The outcome of a step, which its process leaves as `outcome.json`. `figures` are for the log and the page."""

    verdict: StepVerdict
    detail: str = ""
    figures: dict[str, Any] = Field(default={})
    usd: float = Field(default=0.0, ge=0)
    device_seconds: float = Field(default=0.0, ge=0)


class TakenStep(Value):
    """A step that was begun: how often, since when, and its outcome, once it has one. One that might not begin has no attempt."""

    step: str
    attempt: int
    started_at: datetime
    ended_at: datetime | None = None
    outcome: StepOutcome | None = None


class StepTask(Value):
    """The task of a step's process, which it reads as `task.json` in its folder.

    `folders` are those of the steps before it, by their kinds, `plan` is that of the plan's files, and
    `began_at` is when the cycle began. `holder` is the name, at
    the stage's server, of what serves its role now: the base's, where no version does. `sets` are the folders of the set steps of
    all stages: what they learn from, no exam asks. `generator` writes the stage's rubrics: the version of the stage that it
    names, else what has the role `rubric` now; None: nobody has it.
    """

    cycle: UUID
    step: str
    plan: str
    began_at: datetime
    since: datetime
    checks: DataChecks = DataChecks()
    held_out: HeldOut = HeldOut()
    stage: TrainingStage | None = None
    folders: dict[str, str] = Field(default={})
    sets: tuple[str, ...] = ()
    holder: str = ""
    generator: ServedModel | None = None


class CycleInput(Value):
    """The input of the workflow: ids alone. `history`: after so many events it continues in a new history.

    A schedule names a stored `plan` and no cycle: its firing begins one, unless one of this plan is under way.
    """

    cycle_id: UUID | None = None
    plan: str = ""
    history: int = 5_000


class Cycle(Value):
    """A cycle of retraining: its plan as it was read, and where it stands. `folder` is where the plan's files were copied.

    `last_seq` is the number of the last event in its log.
    """

    id: UUID
    plan: CyclePlan
    folder: str
    state: CycleState = CycleState.RUNNING
    wish: CycleWish = CycleWish.GO
    approved: tuple[str, ...] = ()
    detail: str = ""
    asked_by: str
    last_seq: int = 0
    created_at: datetime
    ended_at: datetime | None = None
