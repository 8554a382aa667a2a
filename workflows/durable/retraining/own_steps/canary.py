"""The step that tries a candidate on a share of the organisations, until what they see decides."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

from app.comparisons.storage import trials
from app.domain.errors import Conflict
from app.domain.model_versions import Canary, CanaryState, EvaluationKind, VersionState
from app.domain.retraining import CanaryPlan, Cycle, CycleEventType, StepOutcome, StepVerdict
from app.models.service.cycle_order import Step
from app.models.service.promotion import require_unmoved
from app.models.service.registry import change_state, note_evaluation
from app.models.service.serving import end_canary, start_canary
from app.models.storage import canaries, canary_observations, cycles
from app.models.storage.versions import hold_all_roles
from app.statistics.canary import Action, CanaryDecision, ServedRun, decide_canary
from app.statistics.canary import CanaryPlan as Limits
from workflows.durable.persistence import persist
from workflows.durable.retraining.interruption import wait_a_look
from workflows.durable.retraining.own_steps.second_reports import ask_second_reports
from workflows.durable.retraining.own_steps.stage_version import BY, get_stage_version, id_of_canary, require_stage
from workflows.durable.retraining.workplace import LoopWorkplace

STOPPED = "somebody stopped the canary"
LOOKS_PER_ASKING = 10


async def try_on_readers(place: LoopWorkplace, cycle: Cycle, step: Step, outcomes: Mapping[str, StepOutcome]) -> StepOutcome:
    """Run the canary and decide it by every run and vote since it began.

    Raises:
        CycleInterrupted: the cycle is to pause or to stop. The canary goes on meanwhile, and is decided later.
    """
    stage, plan = require_stage(step), cycle.plan.canary
    assert plan is not None
    version = await persist(lambda: get_stage_version(place, cycle, stage))
    canary_id = id_of_canary(cycle, stage)

    async def start() -> Canary:
        async with place.database.acquire() as connection, connection.transaction():
            if (await canaries.get(connection, canary_id)) is None:
                await hold_all_roles(connection)
                await require_unmoved(connection, version.roles, cycle.created_at, version.name)
                await change_state(connection, version.id, VersionState.CANARY, BY, f"{plan.share:.0%} of the organisations")
            return await start_canary(connection, canary_id, version.id, version.name, plan.share)

    try:
        canary = await persist(start)
    except Conflict as taken:  # by a person, or by another canary: the version stays a candidate
        return StepOutcome(verdict=StepVerdict.SKIPPED, detail=str(taken))
    told = {"canary": str(canary.id), "version": str(version.id), "share": plan.share, "compare": plan.compare}
    await persist(lambda: cycles.tell(place.database, cycle.id, CycleEventType.CANARY_STARTED, told))
    left_usd = cycle.plan.caps.usd - sum(outcome.usd for outcome in outcomes.values())
    outcome = await _watch(place, cycle, canary, plan, left_usd)
    spent = await persist(lambda: trials.get_spent_usd(place.database, canary))
    return outcome.model_copy(update={"usd": spent})


async def stop_canaries(place: LoopWorkplace, cycle: Cycle, why: str) -> None:
    """End the canaries of a cycle that ends without a verdict on them: nobody would decide them any more."""

    async def stop(canary_id: UUID) -> None:
        async with place.database.acquire() as connection, connection.transaction():
            found = await canaries.get(connection, canary_id)
            if found is not None and found.state is CanaryState.RUNNING:
                await end_canary(connection, canary_id, CanaryState.STOPPED, why)
                await change_state(connection, found.version, VersionState.CANDIDATE, BY, why)

    for stage in cycle.plan.stages:
        await persist(partial(stop, id_of_canary(cycle, stage)))


async def _watch(place: LoopWorkplace, cycle: Cycle, canary: Canary, plan: CanaryPlan, left_usd: float) -> StepOutcome:
    """Look again and again until there is a decision, or somebody ended the canary. Now and then, ask for second reports."""
    look = 0
    while True:
        now = await persist(lambda: canaries.get(place.database, canary.id))
        if now is None or now.state is not CanaryState.RUNNING:
            return _read_end(now)
        seen = await persist(lambda: canary_observations.list_observations(place.database, canary))
        decision = decide_canary(Limits(), seen)
        runs = sum(isinstance(each, ServedRun) for each in seen)
        if (ending := choose_ending(decision, runs, datetime.now(UTC), canary, plan)) is not None:
            return await _end(place, cycle, canary, *ending, decision)
        if look % LOOKS_PER_ASKING == 0:
            await ask_second_reports(place.database, canary, plan.compare, left_usd)
        await wait_a_look(place.database, cycle)
        look += 1


def _read_end(ended: Canary | None) -> StepOutcome:
    """Return the outcome of a canary that a person ended, by promoting its version or by stopping it."""
    if ended is not None and ended.state is CanaryState.PROMOTED:
        return StepOutcome(verdict=StepVerdict.DONE, detail=ended.why)
    return StepOutcome(verdict=StepVerdict.REFUSED, detail=ended.why if ended else STOPPED)


def choose_ending(
    decision: CanaryDecision, runs: int, now: datetime, canary: Canary, plan: CanaryPlan
) -> tuple[CanaryState, str] | None:
    """Return how a canary ends now; None: it goes on.

    Readers vote between reports, so they decide of writers. In the other roles, and where votes stay few, a candidate that has
    shown no loss by the end of the trial is promoted on its gate's word, if enough runs had it.
    """
    if decision.action is Action.ROLL_BACK:
        return CanaryState.ROLLED_BACK, decision.reason
    if decision.action is Action.PROMOTE:
        return CanaryState.PROMOTED, decision.reason
    if now - canary.started_at < plan.longest:
        return None
    if runs < plan.least_runs:
        return CanaryState.ROLLED_BACK, f"only {runs} of {plan.least_runs} runs were seen in {plan.longest}: too few to trust it"
    return CanaryState.PROMOTED, f"{runs} runs in {plan.longest} showed no loss ({decision.reason})"


async def _end(
    place: LoopWorkplace, cycle: Cycle, canary: Canary, state: CanaryState, why: str, decision: CanaryDecision
) -> StepOutcome:
    back = state is CanaryState.ROLLED_BACK

    async def end() -> None:
        async with place.database.acquire() as connection, connection.transaction():
            await end_canary(connection, canary.id, state, why)
            if back:
                await change_state(connection, canary.version, VersionState.REFUSED, "canary", why)

    await persist(end)
    figures = {"state": state, "why": why, "observations": decision.observations}
    await persist(lambda: note_evaluation(place.database, canary.version, EvaluationKind.CANARY, figures))
    told = {"canary": str(canary.id), **figures}
    await persist(lambda: cycles.tell(place.database, cycle.id, CycleEventType.CANARY_ENDED, told))
    return StepOutcome(verdict=StepVerdict.REFUSED if back else StepVerdict.DONE, detail=why, figures=figures)
