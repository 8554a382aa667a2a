"""How a system asks for work. In a Temporal workflow a stage is an activity; in training and in tests it is a plain call."""

from typing import Protocol

from app.domain.errors import RubricaError
from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.report import Report


class StageFailed(RubricaError):
    """A stage failed for good. A system turns it into a value; any other exception of a stage (pause, cancel, bug) passes on."""


class Stages(Protocol):
    """Runs one stage and returns its result; a stage that already has a stored result returns it at no cost.

    Raises:
        StageFailed: the stage failed for good and will not be tried again.
    """

    async def plan(self, query: ResearchQuery) -> ResearchPlan:
        """Ask the planning agent."""
        ...

    async def search(self, subtask: Subtask, plan: ResearchPlan) -> Finding:
        """Ask a deep-search agent. It may read the findings of `plan.ancestors(subtask.id)`, all of which are finished."""
        ...

    async def plan_second_round(self, plan: ResearchPlan, findings: tuple[Finding, ...]) -> tuple[Subtask, ...]:
        """Ask the planning agent which further subtasks gaps and conflicts of these findings are worth; mostly few, or none."""
        ...

    async def keep_plan(self, plan: ResearchPlan, dropped: tuple[str, ...]) -> None:
        """Keep the plan that a second round made longer, and tell the run's watchers. `dropped`: the subtasks dropped so far."""
        ...

    async def report(self, plan: ResearchPlan, findings: tuple[Finding, ...]) -> Report:
        """Ask the report agent; findings come in the order of the plan."""
        ...
