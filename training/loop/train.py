"""The training of a stage, by the recipe that its plan names. `python -m training.loop.train FOLDER`.

A run that was stopped or killed goes on from its last checkpoint. Its folder belongs to the build that began it: another build
begins the run anew, and says so.
"""

import json
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.domain.errors import Conflict
from app.domain.retraining import StepOutcome, StepTask, StepVerdict
from app.domain.step_folder import PROGRESS, RUN
from app.settings import read_settings
from training.folders import replace_file
from training.loop.stage_task import fill_recipe, require_stage
from training.loop.step import run_step
from training.recipes.run_folder import BEST_STEP, TrainingFolder
from training.recipes.starting import check_training, describe_run, train

CONFIG = "recipe.toml"
UNIMPROVED = "no step was better on the validation than what the run began with; look at its report before another cycle"
LOOK_EVERY_S = 5.0
CURVES = ("loss", "reward", "validation", "part/", "entropy", "kl")
MOST_CURVES, MOST_POINTS = 12, 100


def train_stage(task: StepTask, folder: Path) -> StepOutcome:
    """Train to the end, and tell beside it how far it is."""
    stage, models, said = require_stage(task), read_settings(os.environ).models, list[str]()
    config = folder / CONFIG
    config.write_text(fill_recipe(task), encoding="utf-8")
    forget_other_run(folder / RUN, stage.recipe, config, models, said)
    with _tell_steps(TrainingFolder(folder / RUN), folder):
        trained = train(stage.recipe, config, folder / RUN, models, said.append)
    unimproved = trained.read_figures().get(BEST_STEP) == 0
    return StepOutcome(
        verdict=StepVerdict.REFUSED if unimproved else StepVerdict.DONE,
        detail=UNIMPROVED if unimproved else trained.ending,
        figures={"said": said, **trained.read_figures(), "curves": draw_curves(trained)},
        device_seconds=trained.seconds,
    )


def forget_other_run(run: Path, recipe: str, config: Path, models: Path | None, said: list[str]) -> None:
    """Delete a run that another build began, or that began with other inputs."""
    begun = TrainingFolder(run).read_origin()
    if begun is None:
        return
    try:
        begun.require_same(describe_run(*check_training(recipe, config, models, lambda line: None)))
    except Conflict as other:
        said.append(f"the run begins anew: {other}")
        shutil.rmtree(run)


def draw_curves(run: TrainingFolder) -> dict[str, list[list[float]]]:
    """Return what was logged as points (step, value) by name, thinned out: the registry keeps them with the version."""
    curves: dict[str, list[list[float]]] = {}
    for each in run.read_metrics():
        for name, value in each.values.items():
            curves.setdefault(name, []).append([each.step, value])
    chosen = [name for name in curves if name.startswith(CURVES)][:MOST_CURVES]
    return {name: curves[name][:: max(1, len(curves[name]) // MOST_POINTS)] for name in chosen}


@contextmanager
def _tell_steps(run: TrainingFolder, folder: Path) -> Iterator[None]:
    """Keep the last step that was logged in the step's progress, which also shows that a run got further between two kills."""
    over = threading.Event()

    def tell() -> None:
        told = -1
        while True:
            # What is saved, at once: a run that goes on has got further than the one that was killed.
            step = max((each.step for each in run.read_metrics()), default=run.checkpoint_step)
            if step != told:
                replace_file(folder / PROGRESS, json.dumps({"at": step}).encode())
                told = step
            if over.wait(LOOK_EVERY_S):
                return

    telling = threading.Thread(target=tell, name="progress", daemon=True)
    telling.start()
    try:
        yield
    finally:
        over.set()
        telling.join()


if __name__ == "__main__":
    sys.exit(run_step(train_stage))
