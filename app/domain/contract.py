"""The agreement between API and workers: names, queues and payloads. Nothing here knows Temporal."""

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
    """Names of the signals and updates that both workflows accept."""

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
    """The reason why a stage must stop before its next turn. It is read from the run's ledger with each stored turn.

    `approval`: the plan waits for a person; no stage reads this, only the run's workflow halts with it. `dropped`: the
    subtask was removed from the plan; the stage hands over what it has. `superseded`: another attempt of
    this stage runs; the one that reads this was taken for dead. `model_refused`, `context_too_long`: the model answers
    none of the run's requests; the ledger never has these, the stage that learns of it halts with them.
    """

    NONE = "none"
    PAUSE = "pause"
    CANCEL = "cancel"
    BUDGET = "budget"
    APPROVAL = "approval"
    DROPPED = "dropped"
    SUPERSEDED = "superseded"
    MODEL_REFUSED = "model_refused"
    CONTEXT_TOO_LONG = "context_too_long"


class ResearchInput(Value):
    """The input with which a run starts, also after a pause. All else is in Postgres under `run_id`.

    `finish` asks for a report from the evidence so far, spending nothing more. `approved`: a person has approved the plan, where
    the query wants that. `organisation_id` takes turns in the queue; `background`: nobody waits for the run, so that others go
    first. `reopens`: what the reason of the run's last pause had cost is opened anew first.
    """

    run_id: UUID
    query: ResearchQuery
    plan: ResearchPlan | None = None
    dropped: tuple[str, ...] = ()
    finish: bool = False
    approved: bool = False
    organisation_id: UUID | None = None
    background: bool = False
    reopens: bool = False

    @property
    def awaits_approval(self) -> bool:
        """True when a plan, once made, must be approved before anything is searched."""
        return self.query.approve_plan and not self.approved and not self.finish


class DraftKind(StrEnum):
    """The kinds of drafts for a question that is no run yet; a replay keeps of a run that is one only what it cost."""

    RUBRIC = "rubric"
    CLARIFICATION = "clarification"
    REPLAY = "replay"


class DraftRequest(Value):
    """A request to draft something for a question."""

    kind: DraftKind
    query: ResearchQuery


class ClarifyingQuestion(Value):
    """A question to the reader. `why` says what the answer would change; `options` are likely answers."""

    question: str = Field(min_length=1, max_length=500)
    why: str = Field(default="", max_length=500)
    options: tuple[str, ...] = Field(default=(), max_length=4)


class Draft(Value):
    """A draft, the model that made it (empty: none) and its cost."""

    rubric: Rubric | None = None
    questions: tuple[ClarifyingQuestion, ...] = Field(default=(), max_length=3)
    model: str = ""
    usage: Usage = Usage()


class ReportTaskInput(Value):
    """A change of a finished report, or a question about its evidence: all else is in Postgres under these ids."""

    run_id: UUID
    task_id: UUID


class PlanRevision(Value):
    """A whole new plan; finished subtasks keep their findings as long as their id stays."""

    plan: ResearchPlan


class SubtaskAddition(Value):
    """One more subtask for a running plan."""

    subtask: Subtask


class SubtaskRemoval(Value):
    """A subtask to drop: if it runs, it stops after its current turn and hands over what it has."""

    subtask_id: str


def workflow_id(run_id: UUID) -> str:
    """Return the Temporal workflow id of a run: one run, one id, across pauses and restarts."""
    return f"run-{run_id}"


def task_workflow_id(task_id: UUID) -> str:
    """Return the Temporal workflow id of a task on a report."""
    return f"task-{task_id}"
