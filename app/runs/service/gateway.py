"""What the use cases need from the workflow service. `run_gateway.py` speaks to Temporal; tests keep runs in memory.

Notes and budgets are not commands: Postgres is their only home, and stages read them there at their next turn or opening. The
same holds for the wish to pause or cancel, which is written first; the command then reaches a workflow that has no stage
running.
"""

from typing import Protocol
from uuid import UUID

from app.domain.contract import Draft, DraftRequest, PlanRevision, ResearchInput, SubtaskAddition, SubtaskRemoval
from app.domain.plan import ResearchPlan


class RunGateway(Protocol):
    """Starts runs and passes commands to them.

    Raises:
        NotFound: no workflow of this run is open (never started, finished, or lost with the workflow service's state).
        Conflict: the workflow refuses the command; the message says why.
        Unavailable: the workflow service does not answer now.
    """

    async def start(self, request: ResearchInput) -> None:
        """Start the run's workflow. One that is open already is left alone, so starting twice is safe."""
        ...

    async def start_task(self, run_id: UUID, task_id: UUID) -> None:
        """Start the workflow of a change of a report or a question. One that is open already is left alone."""
        ...

    async def pause(self, run_id: UUID) -> None:
        """Stop before the next turn of every agent, keeping everything."""
        ...

    async def resume(self, run_id: UUID, finish: bool) -> None:
        """Go on; with `finish`, write the report from what there is, spending nothing more."""
        ...

    async def approve(self, run_id: UUID) -> None:
        """Go on with the plan as it stands."""
        ...

    async def cancel(self, run_id: UUID) -> None:
        """End the run before the next turn of every agent."""
        ...

    async def revise_plan(self, run_id: UUID, revision: PlanRevision) -> ResearchPlan:
        """Replace the plan; the plan as accepted. The workflow validates, keeps it and appends `plan_revised`."""
        ...

    async def add_subtask(self, run_id: UUID, addition: SubtaskAddition) -> ResearchPlan:
        """Add a subtask; the plan as accepted."""
        ...

    async def drop_subtask(self, run_id: UUID, removal: SubtaskRemoval) -> ResearchPlan:
        """Drop a subtask; the plan as accepted."""
        ...

    async def draft(self, request: DraftRequest) -> Draft:
        """Have a worker draft something for a question that is no run.

        Raises:
            Unavailable: no worker did so in time.
        """
        ...

    async def check(self) -> None:
        """Return when the workflow service answers."""
        ...
