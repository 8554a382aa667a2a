"""What steps of a stage read of their task."""

import json
from pathlib import Path

from app.domain.errors import InvalidInput
from app.domain.retraining import StepTask
from app.domain.step_folder import RUN, SET
from app.domain.training_stage import TrainingStage

THIS_SET = '"@set"'


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


def fill_recipe(task: StepTask) -> str:
    """Return the text of the stage's recipe, with the folder of its set in the place of `@set`."""
    text = (Path(task.plan) / require_stage(task).config).read_text(encoding="utf-8")
    return text.replace(THIS_SET, json.dumps(str(folder_of_set(task))))
