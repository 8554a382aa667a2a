"""The models that a step meets beside its own: what serves its role now, and what writes its rubrics."""

from collections.abc import Mapping

from app.domain.errors import Conflict
from app.domain.retraining import Cycle, StepOutcome
from app.domain.served_models import ModelRole, ServedModel
from app.models.service.cycle_order import Step, StepKind, is_served
from app.models.storage import aliases, served
from workflows.durable.persistence import persist
from workflows.durable.retraining.own_steps.stage_version import get_stage_version
from workflows.durable.retraining.workplace import LoopWorkplace


async def find_holder(place: LoopWorkplace, step: Step, begun: str = "") -> str:
    """Return what serves a stage's role now on the stage's server: a version of before, else the base.

    What a step `begun` with stays, whoever has the role by now, as long as its server has it.
    """
    if step.stage is None:
        return ""
    server = step.stage.server
    if begun == server.base or (begun and await _find_served(place, begun) is not None):
        return begun
    held = await _find_served(place, await _name_holder(place, step.stage.role))
    return held.name if held and held.version is not None and held.address == server.address else server.base


async def find_generator(
    place: LoopWorkplace, cycle: Cycle, step: Step, outcomes: Mapping[str, StepOutcome], begun: ServedModel | None = None
) -> ServedModel | None:
    """Return what writes a stage's rubrics: the version of the stage that it names, where that is served; else what has the role.

    None: nobody has it, or its server does not know it any more. What a step `begun` with stays, whoever has the role by now.

    Raises:
        Conflict: a set was begun with a model that is gone: its rows have one generator.
    """
    if step.stage is None:
        return None
    if begun is not None and await _find_served(place, begun.name) is not None:
        return begun
    if begun is not None and step.kind is StepKind.SET and step.stage.generator is not None:
        raise Conflict(
            f"the rubrics of this set are written by {begun.name}, which its server does not know any more, and a set has one "
            "generator: start another cycle, whose set is made with the model that has the role now"
        )
    named = next((each for each in cycle.plan.stages if each.name == step.stage.generator), None)
    if named is not None and is_served(named.name, outcomes):
        version = await persist(lambda: get_stage_version(place, cycle, named))
        if (made := await _find_served(place, version.name)) is not None:
            return made
    return await _find_served(place, await _name_holder(place, ModelRole.RUBRIC))


async def _name_holder(place: LoopWorkplace, role: ModelRole) -> str:
    alias = (await persist(lambda: aliases.list_all(place.database))).get(role)
    return alias.served if alias else ""


async def _find_served(place: LoopWorkplace, name: str) -> ServedModel | None:
    """Return the served model of this name, if its server has it. The stand-in of a deployment without a model has no server."""
    known = await persist(lambda: served.get(place.database, name))
    return known.model if known and known.gone_at is None and known.model.address else None
