"""Cycles of retraining as people start, steer and watch them. A wish is stored first: a worker that comes later finds it."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from uuid import UUID, uuid4

import asyncpg

from app.audit.storage import Action
from app.database.engine import Executor
from app.domain.errors import Conflict, InvalidInput, NotFound
from app.domain.retraining import Cycle, CycleEvent, CycleEventType, CycleWish, TakenStep
from app.models.service.acts import Actor, open_act, record_act
from app.models.service.cycle_gateway import CycleGateway
from app.models.service.cycle_order import list_all_steps
from app.models.service.cycle_standing import CycleStanding, describe_standing
from app.models.service.plan_files import copy_plan, read_plan, stored_plan
from app.models.service.step_papers import StepPaper, read_papers
from app.models.storage import cycles

ACTIONS: Mapping[CycleWish, Action] = {
    CycleWish.PAUSE: Action.CYCLE_PAUSED,
    CycleWish.GO: Action.CYCLE_RESUMED,
    CycleWish.STOP: Action.CYCLE_STOPPED,
    CycleWish.STOP_AFTER: Action.CYCLE_STOPPED,
}


class WatchedCycle(NamedTuple):
    """A cycle with the steps that were begun, and what they wrote for people."""

    standing: CycleStanding
    steps: Sequence[TakenStep]
    papers: Sequence[StepPaper]


class Cycles:
    """The use cases of cycles, in a deployment's folder of cycles. What people do is kept in the cycle's log and the audit log.

    Raises:
        NotFound: there is no cycle of this id.
        Unavailable: the database or the workflow service does not answer.
    """

    def __init__(self, database: asyncpg.Pool, folder: Path, gateway: CycleGateway) -> None:
        self._database = database
        self._folder = folder
        self._gateway = gateway

    async def start(self, path: Path, by: Actor, why: str = "") -> Cycle:
        """Copy a plan and start a cycle of it.

        Raises:
            InvalidInput: the plan cannot be read.
            Conflict: a cycle of this plan is under way.
        """
        cycle = await begin_cycle(self._database, self._folder, path, uuid4(), by.name, why)
        async with open_act(self._database) as connection:
            await record_act(connection, by, Action.CYCLE_STARTED, cycle.id, {"plan": cycle.plan.name, "why": why})
        await self._gateway.wake_cycle(cycle.id)
        return cycle

    async def start_scheduled(self, name: str, by: Actor, why: str) -> Cycle:
        """Start a cycle of a scheduled plan now, beside its times.

        Raises:
            NotFound: nothing is scheduled under this name.
            InvalidInput, Conflict: as for `start`.
        """
        if await self._gateway.find_times(name) is None:
            raise NotFound(f"the plan {name!r} has no schedule; `rubrica retrain start` starts a cycle of a plan's file")
        return await self.start(stored_plan(self._folder, name), by, why)

    async def get(self, cycle: UUID) -> Cycle:
        """Return a cycle as it stands."""
        found = await cycles.get(self._database, cycle)
        if found is None:
            raise NotFound(f"there is no cycle {cycle}")
        return found

    async def list_page(self, most: int, before: UUID | None = None) -> list[CycleStanding]:
        """List up to `most` cycles, newest first, older than `before`."""
        if before is not None:
            await self.get(before)
        found = await cycles.list_page(self._database, most, before)
        times = await cycles.list_state_times(self._database, [each.id for each in found])
        outcomes = {each.id: await cycles.list_outcomes(self._database, each.id) for each in found if not each.state.finished}
        return [describe_standing(each, outcomes.get(each.id, {}), times.get(each.id)) for each in found]

    async def get_standing(self, cycle: UUID) -> CycleStanding:
        """Return how a cycle stands."""
        found = await self.get(cycle)
        times = await cycles.list_state_times(self._database, [cycle])
        return describe_standing(found, await cycles.list_outcomes(self._database, cycle), times.get(cycle))

    async def describe(self, cycle: UUID) -> WatchedCycle:
        """Return a cycle with its steps, and with what they wrote as far as its folder can be seen from here."""
        standing = await self.get_standing(cycle)
        papers = await asyncio.to_thread(read_papers, self._folder / str(cycle), standing.cycle)
        return WatchedCycle(standing, await cycles.list_steps(self._database, cycle), papers)

    async def list_events(self, cycle: UUID, after: int = 0, most: int = 500) -> list[CycleEvent]:
        """List up to `most` things that happened in a cycle after the event `after`."""
        await self.get(cycle)
        return await cycles.list_events(self._database, cycle, after, most)

    async def wish(self, cycle: UUID, wish: CycleWish, by: Actor, why: str) -> Cycle:
        """Pause a cycle, let it go on, or stop it, at once or after the step in hand.

        Raises:
            Conflict: it has ended.
        """
        async with open_act(self._database) as connection:
            if not await cycles.set_wish(connection, cycle, wish):
                raise Conflict(f"the cycle has ended: {(await self.get(cycle)).state}")
            await _note(connection, cycle, {"wish": wish}, by, why)
            await record_act(connection, by, ACTIONS[wish], cycle, {"wish": wish, "why": why})
        return await self._wake(cycle)

    async def approve(self, cycle: UUID, step: str, by: Actor, why: str) -> Cycle:
        """Agree to a step that waits for a person.

        Raises:
            InvalidInput: the plan has no such step, or asks nobody before it.
            Conflict: the cycle has ended.
        """
        found = await self.get(cycle)
        if step not in found.plan.approve or step not in [each.name for each in list_all_steps(found.plan)]:
            raise InvalidInput(f"this plan asks nobody before {step!r}; it asks before {', '.join(found.plan.approve) or 'none'}")
        if found.state.finished:
            raise Conflict(f"the cycle has ended: {found.state}")
        async with open_act(self._database) as connection:
            await cycles.approve(connection, cycle, step)
            await _note(connection, cycle, {"approved": step}, by, why)
            await record_act(connection, by, Action.CYCLE_STEP_APPROVED, cycle, {"step": step, "why": why})
        return await self._wake(cycle)

    async def _wake(self, cycle: UUID) -> Cycle:
        await self._gateway.wake_cycle(cycle)
        return await self.get(cycle)


async def begin_cycle(database: asyncpg.Pool, folder: Path, path: Path, cycle: UUID, asked_by: str, why: str = "") -> Cycle:
    """Copy a plan into the folder of a new cycle, and store the cycle.

    Raises:
        InvalidInput: the plan cannot be read.
        Conflict: a cycle of this plan is under way.
    """
    plan, place = read_plan(path), folder / str(cycle)
    told = {"plan": plan.name, "asked_by": asked_by, "why": why, "caps": plan.caps.model_dump(mode="json")}
    async with open_act(database) as connection:
        if not await cycles.add(connection, cycle, plan, str(place), asked_by):
            other = await cycles.find_under_way(connection, plan.name)
            named = f"the cycle {other.id}" if other else "another cycle"  # it may have ended since
            raise Conflict(f"{named} of the plan {plan.name} is under way; stop it, or wait for its end")
        copy_plan(path, plan, place / "plan")
        await cycles.tell(connection, cycle, CycleEventType.CYCLE_STARTED, told)
        found = await cycles.get(connection, cycle)
    assert found is not None
    return found


async def _note(connection: Executor, cycle: UUID, said: Mapping[str, str], by: Actor, why: str) -> None:
    """Write down in a cycle's log what a person said."""
    await cycles.tell(connection, cycle, CycleEventType.STATE_CHANGED, {**said, "by": by.name, "why": why})
