"""The version that a stage of a cycle makes: its id follows from the cycle, so that nothing is registered twice."""

from uuid import UUID, uuid5

from app.domain.model_versions import ModelVersion
from app.domain.retraining import Cycle
from app.domain.training_stage import TrainingStage
from app.models.service.cycle_order import Step
from app.models.service.registry import get_version
from workflows.durable.retraining.workplace import LoopWorkplace

BY = "cycle"


def require_stage(step: Step) -> TrainingStage:
    """Return the stage of a step that belongs to one."""
    assert step.stage is not None
    return step.stage


def id_of_version(cycle: Cycle, stage: TrainingStage) -> UUID:
    """Return the id of the version that a stage makes."""
    return uuid5(cycle.id, f"version {stage.name}")


def id_of_canary(cycle: Cycle, stage: TrainingStage) -> UUID:
    """Return the id of the canary that a stage runs."""
    return uuid5(cycle.id, f"canary {stage.name}")


async def get_stage_version(place: LoopWorkplace, cycle: Cycle, stage: TrainingStage) -> ModelVersion:
    """Return the version that a stage has made.

    Raises:
        NotFound: it is not registered.
    """
    return await get_version(place.database, id_of_version(cycle, stage))
