"""Commands of a reader to a run that is under way."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from app.database.tenancy import TenantDatabase
from app.domain.budget import Budget
from app.domain.contract import Halt, PlanRevision, SubtaskAddition, SubtaskRemoval
from app.domain.errors import Conflict, NotFound, Outdated
from app.domain.plan import ResearchPlan, Subtask
from app.domain.run import Run, RunStatus, WaitReason
from app.models.storage.resolution import replace_gone
from app.runs.service.gateway import RunGateway
from app.runs.service.runs import Runs
from app.runs.storage import steering
from app.runs.storage.run_log import RunLog

EDITS_AT_ONCE = 3
WAITING_STATUSES = (RunStatus.PAUSED, RunStatus.BUDGET_REACHED, RunStatus.AWAITING_APPROVAL)


class Steering:
    """The use cases that change a run. A wish is written to the ledger first: every agent reads it with its next turn.

    Raises:
        NotFound: no such run.
        Conflict: the run is not in a state that allows this.
        Unavailable: the database or the workflow service does not answer; repeat the request.
    """

    def __init__(self, database: TenantDatabase, gateway: RunGateway, runs: Runs) -> None:
        self._database = database
        self._gateway = gateway
        self._runs = runs
        self._log = RunLog(database)
        self._turns = asyncio.Semaphore(EDITS_AT_ONCE)

    async def pause(self, run_id: UUID) -> Run:
        """Stop before every agent's next turn, keeping everything. Pausing again changes nothing."""
        run = await self._require_unfinished(run_id)
        if run.status not in WAITING_STATUSES:
            await steering.set_control(self._database, run_id, Halt.PAUSE, replacing=(Halt.NONE,))
            # Without an open workflow the wish waits in the ledger: the run parks when it starts.
            with contextlib.suppress(NotFound):
                await self._gateway.pause(run_id)
        return await self._runs.get(run_id)

    async def resume(self, run_id: UUID, finish: bool, present_models: bool = False) -> Run:
        """Continue where the run stopped; with `finish`, write the report from the evidence so far, spending nothing more.

        With `present_models`, a run that waits for its model gets, in roles whose model is gone, the models that have them now.
        A run whose workflow is lost starts anew from the record: what is stored is not paid for again. Resuming
        a run that goes on changes nothing.
        """
        run = await self._require_unfinished(run_id)
        if run.status is RunStatus.AWAITING_APPROVAL:
            raise Conflict(f"run {run_id} waits for its plan to be approved: approve it, change it first, or cancel the run")
        wish = await steering.get_control(self._database, run_id)
        if wish is Halt.CANCEL:
            raise Conflict(f"run {run_id} is being cancelled")
        if run.status is RunStatus.RUNNING and wish is Halt.NONE and not finish:
            return run
        if run.status is RunStatus.BUDGET_REACHED and not finish and not await steering.has_budget_left(self._database, run_id):
            raise Conflict("the budget is spent: raise it and resume, or resume with finish to get a report from what there is")
        if present_models:
            await self._take_present_models(run)
        await steering.set_finish(self._database, run_id, finish)
        await steering.set_control(self._database, run_id, Halt.NONE, replacing=(Halt.PAUSE,))
        try:
            await self._gateway.resume(run_id, finish)
        except NotFound:
            lost = await self._log.load(run_id)
            await self._runs.start(lost.model_copy(update={"reopens": True}))
        return await self._runs.get(run_id)

    async def _take_present_models(self, run: Run) -> None:
        """Replace the models of the run that are gone. Its workflow reads them when it goes on."""
        if run.reason is not WaitReason.MODEL_REFUSED:
            raise Conflict(f"run {run.id} does not wait for its model: a run keeps the models that it began with")
        query = (await self._log.load(run.id)).query
        models = await replace_gone(self._database, query.models)
        await steering.set_query(self._database, run.id, query.model_copy(update={"models": models}))

    async def approve(self, run_id: UUID) -> Run:
        """Continue with the plan as it stands. Approving again changes nothing."""
        run = await self._require_unfinished(run_id)
        if run.status is not RunStatus.AWAITING_APPROVAL:
            if await steering.is_approved(self._database, run_id):
                return run
            raise Conflict(f"run {run_id} is {run.status}: no plan of it waits for approval")
        await steering.set_approved(self._database, run_id)
        await steering.set_control(self._database, run_id, Halt.NONE, replacing=(Halt.PAUSE,))
        try:
            await self._gateway.approve(run_id)
        except NotFound:
            await self._runs.start(await self._log.load(run_id))
        return await self._runs.get(run_id)

    async def cancel(self, run_id: UUID) -> Run:
        """End the run before every agent's next turn. Cancelling again changes nothing."""
        run = await self._runs.get(run_id)
        if run.status is RunStatus.CANCELLED:
            return run
        await self._require_unfinished(run_id)
        await steering.set_control(self._database, run_id, Halt.CANCEL, replacing=(Halt.NONE, Halt.PAUSE))
        try:
            await self._gateway.cancel(run_id)
        except NotFound:
            await self._log.set_status(run_id, RunStatus.CANCELLED, "cancelled before it started")
        return await self._runs.get(run_id)

    async def get_plan(self, run_id: UUID) -> ResearchPlan:
        """Return the plan as it stands.

        Raises:
            NotFound: there is no such run, or it has no plan yet.
        """
        run = await self._runs.get(run_id)
        if run.plan is None:
            raise NotFound(f"run {run_id} has no plan yet; wait for its event plan_made")
        return run.plan

    async def revise_plan(self, run_id: UUID, plan: ResearchPlan, expected: int | None = None) -> ResearchPlan:
        """Replace the plan; findings of subtasks whose id stays are kept. `expected`: the revision that was changed."""
        async with self._hold_plan(run_id, expected):
            return await self._gateway.revise_plan(run_id, PlanRevision(plan=plan))

    async def add_subtask(self, run_id: UUID, subtask: Subtask, expected: int | None = None) -> ResearchPlan:
        """Add one subtask."""
        async with self._hold_plan(run_id, expected):
            return await self._gateway.add_subtask(run_id, SubtaskAddition(subtask=subtask))

    async def drop_subtask(self, run_id: UUID, subtask_id: str, expected: int | None = None) -> ResearchPlan:
        """Drop one subtask; if it runs, it hands over what it has."""
        async with self._hold_plan(run_id, expected) as plan:
            if subtask_id not in {subtask.id for subtask in plan.subtasks}:
                raise NotFound(f"the plan has no subtask {subtask_id!r}")
            return await self._gateway.drop_subtask(run_id, SubtaskRemoval(subtask_id=subtask_id))

    @asynccontextmanager
    async def _hold_plan(self, run_id: UUID, expected: int | None) -> AsyncIterator[ResearchPlan]:
        """Yield the plan while it is changed. With `expected`, the revision that the change was made on, edits take turns.

        Raises:
            Outdated: the plan is at another revision now.
        """
        if expected is None:
            yield (await self._require_plan(run_id))[1]
            return
        # Everybody who waits for his turn holds one connection and needs another: only a few wait at a time, so that some
        # connections are free.
        async with self._turns, self._database.acquire() as connection:
            await steering.await_turn(connection, run_id)
            plan = (await self._require_plan(run_id))[1]
            if plan.revision != expected:
                raise Outdated(f"the plan is at revision {plan.revision} by now; read it again, and make your change on that")
            yield plan

    async def add_note(self, run_id: UUID, text: str) -> int:
        """Store a note for every stage that starts from now on; return the number of its event."""
        await self._require_unfinished(run_id)
        seq = await steering.add_note(self._database, run_id, text)
        if seq is None:
            raise NotFound(f"there is no run {run_id}")
        return seq

    async def set_budget(self, run_id: UUID, budget: Budget) -> Run:
        """Replace the hard cap. A run that waits at its budget goes on when resumed; a completed one may spend it on changes."""
        if (await self._runs.get(run_id)).status is not RunStatus.COMPLETED:
            await self._require_unfinished(run_id)
        await steering.set_budget(self._database, run_id, budget)
        return await self._runs.get(run_id)

    async def _require_unfinished(self, run_id: UUID) -> Run:
        run = await self._runs.get(run_id)
        if run.status.finished:
            raise Conflict(f"run {run_id} is {run.status} and cannot be changed any more")
        return run

    async def _require_plan(self, run_id: UUID) -> tuple[Run, ResearchPlan]:
        run = await self._require_unfinished(run_id)
        if run.plan is None:
            raise Conflict(f"run {run_id} has no plan yet; wait for its event plan_made")
        return run, run.plan
