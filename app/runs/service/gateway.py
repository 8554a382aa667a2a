"""The interface to the workflow service. `temporal_gateway.py` implements it over Temporal; tests keep runs in memory.

Notes and budgets are not commands: only Postgres holds them, and stages read them there at their next turn or opening. The
wish to pause or cancel is also written to Postgres first; the command then reaches a workflow that has no stage
running.
"""

from typing import Protocol
from uuid import UUID

from app.domain.contract import Draft, DraftRequest, PlanRevision, ResearchInput, SubtaskAddition, SubtaskRemoval
from app.domain.plan import ResearchPlan


class RunGateway(Protocol):
    """The protocol that starts runs and passes commands to them.

    Raises:
        NotFound: no workflow of this run is open (never started, finished, or lost with the workflow service's state).
        Conflict: the workflow refuses the command; the message says why.
        Unavailable: the workflow service does not answer now.
    """

    async def start(self, request: ResearchInput) -> None:
        """Start the run's workflow. A workflow that is open already is left alone, so starting twice is safe."""
        ...

    async def start_task(self, run_id: UUID, task_id: UUID) -> None:
        """Start the workflow of a change of a report, or of a question about it. An open workflow is left alone."""
        ...

    async def pause(self, run_id: UUID) -> None:
        """Stop before the next turn of every agent, keeping everything."""
        ...

    async def resume(self, run_id: UUID, finish: bool) -> None:
        """Continue the run; with `finish`, write the report from the evidence so far, spending nothing more."""
        ...

    async def approve(self, run_id: UUID) -> None:
        """Continue with the plan as it stands."""
        ...

    async def cancel(self, run_id: UUID) -> None:
        """End the run before the next turn of every agent."""
        ...

    async def revise_plan(self, run_id: UUID, revision: PlanRevision) -> ResearchPlan:
        """Replace the plan; return the accepted plan. The workflow validates and stores it, and appends `plan_revised`."""
        ...

    async def add_subtask(self, run_id: UUID, addition: SubtaskAddition) -> ResearchPlan:
        """Add a subtask; return the accepted plan."""
        ...

    async def drop_subtask(self, run_id: UUID, removal: SubtaskRemoval) -> ResearchPlan:
        """Drop a subtask; return the accepted plan."""
        ...

    async def draft(self, request: DraftRequest) -> Draft:
        """Let a worker draft something for a question that is no run.

        Raises:
            Unavailable: no worker did so in time.
        """
        ...

    async def check(self) -> None:
        """Return when the workflow service answers."""
        ...

    async def check_workers(self) -> str:
        """Return a remark on the workers, empty when all that ever reported themselves do so still.

        Raises:
            Unavailable: they have all fallen silent: runs wait until one is back.
        """
        ...
