"""What travels between the workflows and their activities. Small on purpose: results stay in PostgreSQL."""

from uuid import UUID

from app.domain.budget import StopReason
from app.domain.contract import Halt, ResearchInput
from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.run import EventType, RunStatus, WaitReason
from app.domain.served_models import RoleModels
from app.domain.value import Value

PLAN_ACTIVITY = "plan"
SECOND_PLAN_ACTIVITY = "second_plan"
SEARCH_ACTIVITY = "search"
SEARCHES_ACTIVITY = "searches"
REPORT_ACTIVITY = "report"
SETTLE_ACTIVITY = "settle"
STEER_ACTIVITY = "steer"
CONTROL_ACTIVITY = "control"
WISH_ACTIVITY = "wish"
REOPEN_ACTIVITY = "reopen"
REPORT_TASK_ACTIVITY = "report_task"
FAIL_TASK_ACTIVITY = "fail_report_task"


class StageRequest(Value):
    """The fields of every stage's request. `begins` marks the first stage of a workflow, which moves the run to `running`."""

    run_id: UUID
    query: ResearchQuery
    finish: bool = False
    begins: bool = False


class SearchRequest(StageRequest):
    """A request to search on one subtask of the plan, by id."""

    plan: ResearchPlan
    subtask_id: str


class SearchOutcome(Value):
    """The end of a search; its finding is in PostgreSQL under the stage.

    `open_points` says in short what a second round could look for: gaps, and what sources disagree on.
    """

    subtask_id: str
    stop: StopReason
    detail: str = ""
    open_points: tuple[str, ...] = ()

    def to_finding(self) -> Finding:
        """Return the part of the finding that the workflow needs."""
        return Finding(subtask_id=self.subtask_id, stop=self.stop, detail=self.detail, gaps=self.open_points)


class SearchesRequest(StageRequest):
    """A request to search on several subtasks of the plan, which begin together."""

    plan: ResearchPlan
    subtask_ids: tuple[str, ...]

    @property
    def each(self) -> tuple[SearchRequest, ...]:
        """The request of each search."""
        return tuple(
            SearchRequest(run_id=self.run_id, query=self.query, finish=self.finish, plan=self.plan, subtask_id=subtask_id)
            for subtask_id in self.subtask_ids
        )


class SearchesOutcome(Value):
    """The ends of searches that began together; `failed` are those that failed for good and left no finding."""

    ended: tuple[SearchOutcome, ...]
    failed: tuple[SearchOutcome, ...] = ()


class SecondPlanRequest(StageRequest):
    """A request for a second round. The findings of `stored` subtasks are in PostgreSQL."""

    plan: ResearchPlan
    stored: tuple[str, ...]


class SecondPlan(Value):
    """The further subtasks of a second round."""

    subtasks: tuple[Subtask, ...] = ()


class ReportRequest(StageRequest):
    """A request for the report. The findings of `stored` subtasks are in PostgreSQL; `missing` say why others have none."""

    plan: ResearchPlan
    stored: tuple[str, ...]
    missing: tuple[SearchOutcome, ...] = ()


class Settlement(Value):
    """A new status for the run; `options` are what a person may do next, `reason` why a run has paused by itself."""

    run_id: UUID
    status: RunStatus
    detail: str = ""
    options: tuple[str, ...] = ()
    reason: WaitReason | None = None


class FailedTask(Value):
    """A report task that failed, and why."""

    run_id: UUID
    task_id: UUID
    detail: str


class ControlWish(Value):
    """A wish for every agent's next turn. It is written only if the present wish is `replacing`."""

    run_id: UUID
    wish: Halt
    replacing: Halt


class Wish(Value):
    """The reader's current wishes for a run, from the ledger."""

    control: Halt
    finish: bool
    approved: bool = False


class Reopened(Value):
    """What was opened anew beside searches: whether the plan is to be made anew. `models` are those of the run from now on."""

    plan: bool
    models: RoleModels | None = None


class SteeredPlan(Value):
    """The plan as a person or a second round changed it."""

    run_id: UUID
    plan: ResearchPlan
    dropped: tuple[str, ...]
    event: EventType = EventType.PLAN_REVISED


class ParkedRun(Value):
    """A run that waits for a person: the input with which it will start again, and why it waits."""

    start: ResearchInput
    halt: Halt
