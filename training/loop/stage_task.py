"""What steps of a stage read of their task."""

from pathlib import Path

from app.domain.errors import InvalidInput
from app.domain.retraining import StepTask
from app.domain.step_folder import RUN, SET
from app.domain.training_stage import TrainingStage


def require_stage(task: StepTask) -> TrainingStage:
    """Return the stage of a task.

    Raises:
        InvalidInput: it has none.
    """
    if task.stage is None:
        raise InvalidInput(f"the step {task.step} belongs to no stage")
    return task.stage


def folder_of_set(task: StepTask) -> Path:
    """Return the folder of the stage's set."""
    return Path(task.folders["set"]) / SET


def folder_of_run(task: StepTask) -> Path:
    """Return the folder of the stage's training run."""
    return Path(task.folders["train"]) / RUN
