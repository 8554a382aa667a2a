"""The bodies of requests and answers about cycles of retraining. Only the operator's organisation gets them."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, StringConstraints

from app.domain.retraining import CycleEventType, CycleState, CycleWish, StepVerdict
from app.models.schemas.bodies import ActReason
from app.models.service.plan_needs import NeedKind

StepName = Annotated[str, StringConstraints(max_length=80, pattern=r"^[a-z][a-z0-9_]*(\.[a-z]+)?$")]


class StepApproval(ActReason):
    """Agreement to a step that waits for a person, such as `rubric.canary`."""

    step: StepName


class CycleStop(ActReason):
    """The end of a cycle, at once or after the step in hand."""

    after_step: bool = False


class CycleView(BaseModel):
    """A cycle of retraining. `step` is the one in hand, or the next; both it and its stage are empty once the cycle has ended.

    `since` is when it came into its state, and `detail` says what it waits for, or why it ended. `asks`: the step waits for a
    person to agree. `wish` is what people last asked for. `last_seq` is the number of the last line in its log.
    """

    id: UUID
    plan: str
    state: CycleState
    wish: CycleWish
    detail: str
    step: str
    stage: str
    asks: bool
    since: datetime
    asked_by: str
    last_seq: int
    created_at: datetime
    ended_at: datetime | None


class CyclePage(BaseModel):
    """One page of cycles, newest first. `next` is the value of `before` for the following page; null on the last."""

    items: list[CycleView]
    next: UUID | None = None


class CycleStepView(BaseModel):
    """A step that was begun. Without a `verdict` it is not over. `usd` and `device_seconds` are what it took."""

    step: str
    attempt: int
    started_at: datetime
    ended_at: datetime | None
    verdict: StepVerdict | None
    detail: str
    figures: dict[str, Any]
    usd: float
    device_seconds: float


class StepPaperView(BaseModel):
    """What a step wrote for people, in Markdown: the checks of the data, or a gate's table."""

    step: str
    text: str


class CycleDetail(BaseModel):
    """A cycle with its steps, and what they wrote. `approve` are the steps before which its plan asks a person.

    `cap_usd` and `cap_device_hours` are the most that it may take. `papers` is empty where the API does not see its folder.
    """

    cycle: CycleView
    approve: list[str]
    cap_usd: float
    cap_device_hours: float
    steps: list[CycleStepView]
    papers: list[StepPaperView]


class CycleEventView(BaseModel):
    """One line of a cycle's log. `seq` counts from 1 without gaps."""

    seq: int
    type: CycleEventType
    payload: dict[str, Any]
    at: datetime


class CycleEventList(BaseModel):
    """What happened in a cycle, in its order. `next` is the value of `after` for what follows; null at the end so far."""

    items: list[CycleEventView]
    next: int | None = None


class PlanNeedView(BaseModel):
    """A least number that a plan wants, for all of its data or for a stage, and how much there is now; null: nobody can tell yet.

    `pairs` decide between two reports, `readers` made them, and `rows` are those that a stage would learn from. It is an
    estimate: a cycle's checks may leave out more.
    """

    what: NeedKind
    stage: str
    least: int
    found: int | None
    missing: int


class ScheduledPlanView(BaseModel):
    """A plan whose cycles start at set times. `next_at` is null while they rest; `under_way` is its cycle that has not ended.

    `fault` says why the plan cannot be read; then its needs are not known.
    """

    name: str
    cron: str
    time_zone: str
    next_at: datetime | None
    under_way: UUID | None
    needs: list[PlanNeedView]
    fault: str


class ScheduledPlanList(BaseModel):
    """The plans whose cycles start at set times."""

    items: list[ScheduledPlanView]
