"""The activity of cycles: it takes the next step, unless a person wishes otherwise, and says what comes then."""

import contextlib
import logging
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from temporalio import activity

from app.domain.errors import Conflict, RubricaError, Unavailable
from app.domain.retraining import Cycle, CycleEventType, CycleInput, CycleState, CycleWish, StepOutcome, StepVerdict
from app.models.service.cycle_order import CycleEnd, Step, StepKind, find_next
from app.models.service.cycles import begin_cycle
from app.models.service.plan_files import stored_plan
from app.models.storage import cycles
from workflows.durable.persistence import persist
from workflows.durable.retraining.interruption import CycleInterrupted, ServerAway, StepKilled, wait_for_server
from workflows.durable.retraining.own_steps import OWN_STEPS
from workflows.durable.retraining.own_steps.canary import stop_canaries
from workflows.durable.retraining.payloads import ADVANCE_CYCLE, BEGIN_CYCLE, CycleMove, PlannedCycle
from workflows.durable.retraining.steps import take_step
from workflows.durable.retraining.telling import change_state
from workflows.durable.retraining.workplace import LoopWorkplace
from workflows.durable.stage_running import send_heartbeats
from workflows.durable.workshop import Workshop

SCHEDULE = "schedule"
# An error that nobody expected is raised, and Temporal tries the step again; a cycle does not hang on it for ever.
MOST_ATTEMPTS = 6
log = logging.getLogger(__name__)
WAITS_FOR_APPROVAL = "waits for the approval of {}"


class RetrainingActivities:
    """The activity of one worker."""

    def __init__(self, place: LoopWorkplace) -> None:
        self._place = place
        self._database = place.database

    @property
    def list_activities(self) -> list[Callable[..., Any]]:
        """All activities, for a worker."""
        return [self.begin, self.advance]

    @activity.defn(name=BEGIN_CYCLE)
    async def begin(self, planned: PlannedCycle) -> None:
        """Begin a cycle of a stored plan, unless one of that plan is under way. Repeating it changes nothing."""
        path = stored_plan(self._place.folder, planned.plan)
        try:
            if await cycles.get(self._database, planned.cycle_id) is None:
                await begin_cycle(self._database, self._place.folder, path, planned.cycle_id, SCHEDULE)
        except Conflict as under_way:
            log.info("%s", under_way)

    @activity.defn(name=ADVANCE_CYCLE)
    async def advance(self, request: CycleInput) -> CycleMove:
        """Take a cycle's next step. None is taken twice: outcomes are stored, and processes found by their folders."""
        async with send_heartbeats():
            cycle_id = request.cycle_id
            cycle = await persist(lambda: cycles.get(self._database, cycle_id)) if cycle_id else None
            if cycle is None or cycle.state.finished:
                return CycleMove.OVER
            outcomes = await persist(lambda: cycles.list_outcomes(self._database, cycle.id))
            return await self._advance(cycle, outcomes)

    async def _advance(self, cycle: Cycle, outcomes: Mapping[str, StepOutcome]) -> CycleMove:
        following = find_next(cycle.plan, outcomes)
        if isinstance(following, CycleEnd):
            return await self._end(cycle, following)
        if cycle.wish is CycleWish.STOP or (cycle.wish is CycleWish.STOP_AFTER and not await self._is_begun(cycle, following)):
            return await self._end(cycle, CycleEnd(CycleState.STOPPED, f"before {following.name}"))
        if cycle.wish is CycleWish.PAUSE:
            return await self._wait(cycle, CycleState.PAUSED, f"before {following.name}")
        if following.name in cycle.plan.approve and following.name not in cycle.approved:
            return await self._wait(cycle, CycleState.WAITING, WAITS_FOR_APPROVAL.format(following.name))
        return await self._take(cycle, following, outcomes)

    async def _take(self, cycle: Cycle, step: Step, outcomes: Mapping[str, StepOutcome]) -> CycleMove:
        """Take a step to its outcome. A wish that comes meanwhile ends it, and the next look carries the wish out."""
        await change_state(self._database, cycle, CycleState.RUNNING, step.name)
        try:
            outcome = self._check_caps(cycle, step, outcomes) or await take_step(self._place, cycle, step, outcomes)
        except (CycleInterrupted, StepKilled):
            return CycleMove.BUSY
        except (ServerAway, Unavailable) as away:
            await change_state(self._database, cycle, CycleState.WAITING, f"{step.name} waits for a server: {away}")
            with contextlib.suppress(CycleInterrupted):
                await wait_for_server(self._database, cycle)
            return CycleMove.BUSY
        except (RubricaError, OSError) as error:
            log.warning("cycle %s: the step %s failed", cycle.id, step.name, exc_info=error)
            outcome = StepOutcome(verdict=StepVerdict.FAILED, detail=f"{type(error).__name__}: {error}")
        except Exception as bug:
            if activity.info().attempt < MOST_ATTEMPTS:
                raise
            log.exception("cycle %s: the step %s failed", cycle.id, step.name)
            outcome = _describe_bug(bug)
        if await persist(lambda: cycles.end_step(self._database, cycle.id, step.name, outcome)):
            told = {"step": step.name, **outcome.model_dump(mode="json")}
            await persist(lambda: cycles.tell(self._database, cycle.id, CycleEventType.STEP_FINISHED, told))
        return CycleMove.BUSY

    def _check_caps(self, cycle: Cycle, step: Step, outcomes: Mapping[str, StepOutcome]) -> StepOutcome | None:
        """Return a failure where the steps so far took what the plan allows. A promotion takes nothing."""
        caps, usd = cycle.plan.caps, sum(outcome.usd for outcome in outcomes.values())
        hours = sum(outcome.device_seconds for outcome in outcomes.values()) / 3600
        if step.kind is StepKind.PROMOTE or (usd < caps.usd + 1e-9 and hours < caps.device_hours):
            return None
        spent = f"US$ {usd:.2f} of {caps.usd:.2f} and {hours:.1f} of {caps.device_hours:.1f} device-hours are spent"
        return StepOutcome(verdict=StepVerdict.FAILED, detail=f"{spent}; raise [caps] in the plan for another cycle")

    async def _is_begun(self, cycle: Cycle, step: Step) -> bool:
        return await persist(lambda: cycles.is_begun(self._database, cycle.id, step.name))

    async def _end(self, cycle: Cycle, end: CycleEnd) -> CycleMove:
        await stop_canaries(self._place, cycle, f"its cycle ended as {end.state}")
        await change_state(self._database, cycle, end.state, end.detail)
        return CycleMove.OVER

    async def _wait(self, cycle: Cycle, state: CycleState, detail: str) -> CycleMove:
        await change_state(self._database, cycle, state, detail)
        return CycleMove.IDLE


def _describe_bug(bug: Exception) -> StepOutcome:
    """Return the failure of a step in which nobody expected an error, with the traceback for the cycle's log."""
    detail = f"an error of the program, {MOST_ATTEMPTS} times: {type(bug).__name__}: {bug}"
    return StepOutcome(verdict=StepVerdict.FAILED, detail=detail, figures={"traceback": "".join(traceback.format_exception(bug))})


def open_workplace(shop: Workshop) -> LoopWorkplace:
    """Return where this worker works cycles."""
    return LoopWorkplace(shop.database, shop.loop, shop.train_python, shop.artifacts, shop.step_processes, OWN_STEPS)
