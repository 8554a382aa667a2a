"""The activity of fleets: it settles what has ended, begins what there is room for, and waits while there is nothing to do."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID, uuid5

from temporalio import activity

from app.collections.service.index_names import resolve_collections
from app.database.engine import Executor, translate_outages
from app.database.tenancy import Tenant
from app.domain.contract import Halt
from app.domain.errors import InvalidInput, TooManyRequests
from app.domain.fleets import FleetWish
from app.domain.run import RunStatus
from app.fleets.storage import steps as fleet_steps
from app.fleets.storage.steps import LockedFleet, RunUnderWay, WaitingQuestion
from app.quotas.service import admit_run
from app.runs.storage import steering
from app.runs.storage.run_log import RunLog
from app.schedules.storage import living_runs
from app.schedules.storage.living_runs import Owner
from workflows.durable.failures import make_stopping_failure
from workflows.durable.fleet_payloads import ADVANCE_ACTIVITY, FleetAdvance, FleetState, FleetStep
from workflows.durable.persistence import persist
from workflows.durable.stage_running import send_heartbeats
from workflows.durable.workshop import Workshop

MICRO_BATCH = 25
"""Runs begun in one transaction, and started by one decision of the workflow (S_micro)."""
LOOK_EVERY = timedelta(milliseconds=500)
ROOM_EVERY = timedelta(seconds=30)
"""How often to look whether an organisation's quota has room again."""
LONGEST_LOOK = timedelta(minutes=10)
ASKER_GONE = "whoever made this fleet may not ask here any more"


class FleetMove(NamedTuple):
    """The result of one look at the fleet. `held`: a quota has no room for a further run."""

    step: FleetStep
    revision: int = 0
    held: bool = False


class FleetActivities:
    """The activity of one worker."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop

    @activity.defn(name=ADVANCE_ACTIVITY)
    async def advance(self, request: FleetAdvance) -> FleetStep:
        """Move the fleet on and return when its workflow has something to do. Repeating it changes nothing."""
        until = asyncio.get_running_loop().time() + LONGEST_LOOK.total_seconds()
        async with send_heartbeats():
            await persist(lambda: fleet_steps.mark_dispatched(self._shop.database, request.started))
            while True:
                moved = await persist(lambda: self._move_fleet(request))
                step = moved.step
                if step.state is not FleetState.BUSY or step.starts or step.finish or step.cancel:
                    return step
                if not await self._wait_for_news(request, moved, until):
                    return step

    async def _wait_for_news(self, request: FleetAdvance, moved: FleetMove, until: float) -> bool:
        """Wait until there may be something to do; return False when it took too long."""
        loop = asyncio.get_running_loop()
        room_at = loop.time() + ROOM_EVERY.total_seconds() if moved.held else until
        while not await persist(
            lambda: fleet_steps.has_news(self._shop.database, request.fleet_id, moved.revision, request.told)
        ):
            if activity.is_worker_shutdown():
                raise make_stopping_failure()
            if loop.time() > min(room_at, until):
                return loop.time() < until
            await asyncio.sleep(LOOK_EVERY.total_seconds())
        return True

    async def _move_fleet(self, request: FleetAdvance) -> FleetMove:
        """Move the fleet in one transaction under its row. Like a run's writers, it locks no row of `runs` before a ledger."""
        async with translate_outages(), self._shop.database.acquire() as connection, connection.transaction():
            fleet = await fleet_steps.lock(connection, request.fleet_id)
            if fleet is None:
                return FleetMove(FleetStep(state=FleetState.OVER))
            await living_runs.act_for(connection, Owner(fleet.organisation, fleet.user))
            await fleet_steps.settle(connection, fleet.id)
            if fleet.wish is FleetWish.CANCEL:
                await fleet_steps.drop(connection, fleet.id)
            left = await self._begin_more(connection, fleet) if fleet.wish is FleetWish.GO else WaitingQuestions(False)
            if await fleet_steps.end(connection, fleet.id):
                return FleetMove(FleetStep(state=FleetState.OVER))
            runs = await fleet_steps.list_under_way(connection, fleet.id)
            finish, cancel = await _list_commands(connection, fleet, [run for run in runs if run.id not in request.told])
            log = RunLog(connection)
            starts = tuple([await log.load(run.id) for run in runs if run.unstarted])
            state = FleetState.BUSY if runs or left.some else FleetState.IDLE
            step = FleetStep(state=state, starts=starts, finish=finish, cancel=cancel)
            return FleetMove(step, fleet.revision, left.held)

    async def _begin_more(self, connection: Executor, fleet: LockedFleet) -> "WaitingQuestions":
        """Begin runs as far as the window and the quotas have room."""
        if fleet.user is not None and not await living_runs.may_ask(connection, Owner(fleet.organisation, fleet.user)):
            await fleet_steps.set_detail(connection, fleet.id, ASKER_GONE, FleetWish.PAUSE)
            return WaitingQuestions(False)
        room = min(fleet.at_once - len(await fleet_steps.list_under_way(connection, fleet.id)), MICRO_BATCH)
        waiting = await fleet_steps.list_waiting(connection, fleet.id, room + 1) if room > 0 else []
        said = ""
        for question in waiting[:room]:
            try:
                await self._begin_run(connection, fleet, question)
            except TooManyRequests as error:
                said = f"waits for room: {error}"
                break
        if said != fleet.detail:
            await fleet_steps.set_detail(connection, fleet.id, said)
        return WaitingQuestions(bool(said) or len(waiting) > room, bool(said))

    async def _begin_run(self, connection: Executor, fleet: LockedFleet, waiting: WaitingQuestion) -> None:
        """Make the run of a question; a question that cannot be asked ends here.

        Raises:
            TooManyRequests: a quota has no room for it now.
        """
        try:
            query, searched = await resolve_collections(connection, waiting.question.query)
        except InvalidInput as error:
            await fleet_steps.refuse(connection, fleet.id, waiting.position, str(error))
            return
        await admit_run(connection, Tenant(fleet.organisation, fleet.user), self._shop.most, background=True)
        run = uuid5(fleet.id, str(waiting.position))
        await fleet_steps.begin(connection, fleet.id, waiting.position, run, query, searched)


class WaitingQuestions(NamedTuple):
    """The questions that still wait to begin: `some`, if there are any; `held`, if they wait for room in a quota."""

    some: bool
    held: bool = False


async def _list_commands(
    connection: Executor, fleet: LockedFleet, runs: Sequence[RunUnderWay]
) -> tuple[tuple[UUID, ...], tuple[UUID, ...]]:
    """Return the runs to finish early, because nobody is there to raise their budget, and the runs to cancel.

    The command is first written into each run's ledger: every stage reads it there, and so does a workflow that replaces a lost
    one.
    """
    if fleet.wish is FleetWish.CANCEL:
        for run in runs:
            await steering.set_control(connection, run.id, Halt.CANCEL, replacing=(Halt.NONE, Halt.PAUSE))
        return (), tuple(run.id for run in runs)
    spent = tuple(run.id for run in runs if run.status is RunStatus.BUDGET_REACHED)
    for run_id in spent:
        await steering.set_finish(connection, run_id, True)
    return spent, ()
