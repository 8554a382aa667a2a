"""Taking a step: as a process in a folder of its own, or as a few statements of this worker."""

from collections.abc import Mapping

from app.domain.retraining import Cycle, StepOutcome
from app.models.service.cycle_order import Step
from workflows.durable.retraining.process_steps import run_process
from workflows.durable.retraining.telling import note_beginning
from workflows.durable.retraining.workplace import LoopWorkplace


async def take_step(place: LoopWorkplace, cycle: Cycle, step: Step, outcomes: Mapping[str, StepOutcome]) -> StepOutcome:
    """Take a step, or go on with it, to its outcome.

    Raises:
        CycleInterrupted: the cycle is to pause or to stop.
        StepKilled: its process was killed, and may go on.
    """
    if own := place.own_steps.get(step.kind):
        await note_beginning(place, cycle, step)
        return await own(place, cycle, step, outcomes)
    return await run_process(place, cycle, step, outcomes)
