"""The step that gives a role to its new version."""

from collections.abc import Mapping
from functools import partial

from app.domain.errors import Conflict
from app.domain.retraining import Cycle, CycleEventType, StepOutcome, StepVerdict
from app.models.service.cycle_order import Step
from app.models.service.promotion import promote, require_unmoved
from app.models.storage import cycles
from app.models.storage.versions import hold_all_roles
from workflows.durable.persistence import persist
from workflows.durable.retraining.own_steps.stage_version import BY, get_stage_version, require_stage
from workflows.durable.retraining.workplace import LoopWorkplace


async def promote_version(place: LoopWorkplace, cycle: Cycle, step: Step, outcomes: Mapping[str, StepOutcome]) -> StepOutcome:
    """Promote, in all roles of the version at once. Where somebody holds one or moved it meanwhile, none is moved: a person may
    promote the candidate.
    """
    stage = require_stage(step)
    version = await persist(lambda: get_stage_version(place, cycle, stage))
    why = f"passed the gate of the cycle {cycle.id}" + (" and its canary" if cycle.plan.canary else "")

    async def move() -> None:
        async with place.database.acquire() as connection, connection.transaction():
            await hold_all_roles(connection)
            await require_unmoved(connection, version.roles, cycle.created_at, version.name)
            await promote(connection, version.id, version.name, BY, why)

    try:
        await persist(move)
    except Conflict as held:
        return StepOutcome(verdict=StepVerdict.SKIPPED, detail=str(held))
    for role in version.roles:
        told = {"role": role, "went_to": version.name, "why": why}
        await persist(partial(cycles.tell, place.database, cycle.id, CycleEventType.ALIAS_MOVED, told))
    return StepOutcome(verdict=StepVerdict.DONE, figures={"serves": version.name})
