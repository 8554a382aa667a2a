"""What the API and the workers agree on: names, queues and payloads. Nothing here knows Temporal."""

from enum import StrEnum
from uuid import UUID

from pydantic import Field

from app.domain.budget import Usage
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.rubric import Rubric
from app.domain.value import Value

RESEARCH_WORKFLOW = "ResearchWorkflow"
PARKED_WORKFLOW = "ParkedRunWorkflow"
REPORT_TASK_WORKFLOW = "ReportTaskWorkflow"
DRAFT_WORKFLOW = "DraftWorkflow"
RESEARCH_QUEUE = "rubrica-research"
DEPLOYMENT_NAME = "rubrica-worker"


class Command(StrEnum):
    """Names of the signals and updates both workflows accept."""

    PAUSE = "pause"
    RESUME = "resume"
    APPROVE = "approve"
    FINISH = "finish"
    CANCEL = "cancel"
    REVISE_PLAN = "revise_plan"
    ADD_SUBTASK = "add_subtask"
    DROP_SUBTASK = "drop_subtask"
    ADD_NOTE = "add_note"
    SET_BUDGET = "set_budget"


class Halt(StrEnum):
    """Why a stage must stop before its next turn. Read from the run's ledger together with each stored turn.

    `approval`: the plan waits for a person; no stage ever reads this, it is what the run's workflow halts with. `dropped`: the
    subtask was taken out of the plan; the stage hands over what it has. `superseded`: another attempt of
    this stage runs, the one that reads this was taken for dead.
    """

    NONE = "none"
    PAUSE = "pause"
    CANCEL = "cancel"
    BUDGET = "budget"
    APPROVAL = "approval"
    DROPPED = "dropped"
    SUPERSEDED = "superseded"


class ResearchInput(Value):
    """How a run starts, and how it starts again after a pause. All else is in Postgres under `run_id`.

    `finish` asks for a report from what there is, spending nothing more. `approved`: a person has approved the plan, where the
    query wants that. `organisation_id` is whose turn it is in the queue; `background`: nobody waits for it, so that those for
    whom somebody does go first.
    """

    run_id: UUID
    query: ResearchQuery
    plan: ResearchPlan | None = None
    dropped: tuple[str, ...] = ()
    finish: bool = False
    approved: bool = False
    organisation_id: UUID | None = None
    background: bool = False

    @property
    def awaits_approval(self) -> bool:
        """Whether a plan, once made, has to be approved before anything is searched."""
        return self.query.approve_plan and not self.approved and not self.finish


class DraftKind(StrEnum):
    """What can be drafted for a question that is no run yet."""

    RUBRIC = "rubric"
    CLARIFICATION = "clarification"


class DraftRequest(Value):
    """Draft this for a question."""

    kind: DraftKind
    query: ResearchQuery


class ClarifyingQuestion(Value):
    """A question to the reader. `why` says what the answer would change; `options` are likely answers."""

    question: str = Field(min_length=1, max_length=500)
    why: str = Field(default="", max_length=500)
    options: tuple[str, ...] = Field(default=(), max_length=4)


class Draft(Value):
    """What was drafted, by which model (empty: without one) and at what cost."""

    rubric: Rubric | None = None
    questions: tuple[ClarifyingQuestion, ...] = Field(default=(), max_length=3)
    model: str = ""
    usage: Usage = Usage()


class ReportTaskInput(Value):
    """A change of a finished report, or a question to its evidence: all else is in Postgres under these ids."""

    run_id: UUID
    task_id: UUID


class PlanRevision(Value):
    """A whole new plan; subtasks already finished keep their findings as long as their id stays."""

    plan: ResearchPlan


class SubtaskAddition(Value):
    """One more subtask for a running plan."""

    subtask: Subtask


class SubtaskRemoval(Value):
    """Drop a subtask: one that runs stops after its current turn and hands over what it has."""

    subtask_id: str


def workflow_id(run_id: UUID) -> str:
    """The Temporal workflow id of a run: one run, one id, across pauses and restarts."""
    return f"run-{run_id}"


def task_workflow_id(task_id: UUID) -> str:
    """The Temporal workflow id of a task on a report."""
    return f"task-{task_id}"
