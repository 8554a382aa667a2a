"""Cycles of retraining as people start and steer them. What is wished is stored first: a worker that comes later finds it."""

from pathlib import Path
from typing import Protocol
from uuid import UUID, uuid4

from app.database.engine import Executor
from app.domain.errors import Conflict, InvalidInput, NotFound
from app.domain.retraining import Cycle, CycleEvent, CycleEventType, CycleWish
from app.models.service.cycle_order import ONCE, Step, list_steps
from app.models.service.plan_files import PLAN, PLANS, copy_plan, read_plan
from app.models.storage import cycles


class CycleGateway(Protocol):
    """The protocol that cycles need from the workflow service."""

    async def wake_cycle(self, cycle: UUID) -> None:
        """Start a cycle's workflow; an open one is woken instead.

        Raises:
            Unavailable: the workflow service does not answer; workers start the workflow within a minute of its return.
        """
        ...


class Cycles:
    """The use cases of cycles, in a deployment's folder of cycles."""

    def __init__(self, database: Executor, folder: Path, gateway: CycleGateway) -> None:
        self._database = database
        self._folder = folder
        self._gateway = gateway

    async def start(self, path: Path, asked_by: str) -> Cycle:
        """Copy a plan and start a cycle of it.

        Raises:
            InvalidInput: the plan cannot be read.
            Conflict: a cycle of this plan is under way.
        """
        cycle = await begin_cycle(self._database, self._folder, path, uuid4(), asked_by)
        await self._gateway.wake_cycle(cycle.id)
        return cycle

    async def get(self, cycle: UUID) -> Cycle:
        """Return a cycle as it stands.

        Raises:
            NotFound: there is none of this id.
        """
        found = await cycles.get(self._database, cycle)
        if found is None:
            raise NotFound(f"there is no cycle {cycle}")
        return found

    async def list_newest(self) -> list[Cycle]:
        """List the newest cycles first."""
        return await cycles.list_newest(self._database)

    async def list_events(self, cycle: UUID, after: int = 0) -> list[CycleEvent]:
        """List what happened in a cycle after the event `after`."""
        await self.get(cycle)
        return await cycles.list_events(self._database, cycle, after)

    async def wish(self, cycle: UUID, wish: CycleWish, by: str, why: str) -> Cycle:
        """Pause a cycle, let it go on, or stop it, at once or after the step in hand.

        Raises:
            Conflict: it has ended.
        """
        if not await cycles.set_wish(self._database, cycle, wish):
            raise Conflict(f"the cycle has ended: {(await self.get(cycle)).state}")
        return await self._tell(cycle, {"wish": wish, "by": by, "why": why})

    async def approve(self, cycle: UUID, step: str, by: str, why: str) -> Cycle:
        """Agree to a step that waits for a person.

        Raises:
            InvalidInput: the plan has no such step, or asks nobody before it.
            Conflict: the cycle has ended.
        """
        found = await self.get(cycle)
        if step not in found.plan.approve or step not in list_step_names(found):
            raise InvalidInput(f"this plan asks nobody before {step!r}; it asks before {', '.join(found.plan.approve) or 'none'}")
        if found.state.finished:
            raise Conflict(f"the cycle has ended: {found.state}")
        await cycles.approve(self._database, cycle, step)
        return await self._tell(cycle, {"approved": step, "by": by, "why": why})

    async def _tell(self, cycle: UUID, said: dict[str, str]) -> Cycle:
        await cycles.tell(self._database, cycle, CycleEventType.STATE_CHANGED, dict(said))
        await self._gateway.wake_cycle(cycle)
        return await self.get(cycle)


async def begin_cycle(database: Executor, folder: Path, path: Path, cycle: UUID, asked_by: str) -> Cycle:
    """Copy a plan into the folder of a new cycle, and store the cycle.

    Raises:
        InvalidInput: the plan cannot be read.
        Conflict: a cycle of this plan is under way.
    """
    plan = read_plan(path)
    if under_way := [other for other in await cycles.list_under_way(database) if other.plan.name == plan.name]:
        raise Conflict(f"the cycle {under_way[0].id} of the plan {plan.name} is under way; stop it, or wait for its end")
    place = folder / str(cycle)
    copy_plan(path, plan, place / "plan")
    await cycles.add(database, cycle, plan, str(place), asked_by)
    told = {"plan": plan.name, "asked_by": asked_by, "caps": plan.caps.model_dump(mode="json")}
    await cycles.tell(database, cycle, CycleEventType.CYCLE_STARTED, told)
    found = await cycles.get(database, cycle)
    assert found is not None
    return found


def stored_plan(folder: Path, name: str) -> Path:
    """Return where the plan of a schedule is kept."""
    return folder / PLANS / name / PLAN


def list_step_names(cycle: Cycle) -> list[str]:
    """Return the names of all steps that a cycle may take, in their order."""
    once = [Step(kind).name for kind in ONCE]
    return [*once, *(step.name for stage in cycle.plan.stages for step in list_steps(cycle.plan, stage))]
