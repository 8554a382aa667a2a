"""The best policy of a run by its validation: measured every so many steps, saved when it is better than all before."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from transformers import TrainerCallback

from training.folders import PART
from training.recipes.held_out import MISSING
from training.recipes.policy import deliver_model
from training.recipes.reinforcement.policy_source import OpenPolicy
from training.recipes.run_folder import BEST_STEP, BEST_VALIDATION, TrainingFolder

Validate: TypeAlias = Callable[[OpenPolicy], Awaitable[Mapping[str, float]]]
"""Measures the policy. The figure `BY` says which policy is better, `MISSING` over how much; others may be logged beside them."""
BEST, BY, LOGGED = "best", "validation", "validation"


class ValidationCallback(TrainerCallback):  # type: ignore[misc]
    """Validates before the first step, every `every` steps and after the last, and keeps the best policy.

    Where more than `most_missing` of the rewards are missing, the mean is one over other tasks, and the policy does not compete.
    `measure` runs the validation on the policy as it is; what it returns is in the run's metrics, so a resumed run decides
    the same.
    """

    def __init__(
        self, folder: TrainingFolder, every: int, measure: Callable[[], Awaitable[Mapping[str, float]]], most_missing: float = 1.0
    ) -> None:
        self._folder, self._every, self._measure, self._most_missing = folder, every, measure, most_missing
        self.trainer: Any = None
        for _, path in list_saved(folder):
            if folder.checkpoint is None or step_of(path) > folder.checkpoint_step:
                shutil.rmtree(path)

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Validate the policy that training begins with."""
        if state.global_step == 0:
            self._validate(0)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Validate where it is time."""
        if state.global_step % self._every == 0 or state.global_step >= state.max_steps:
            self._validate(state.global_step)

    def validate_last(self) -> None:
        """Validate the policy of the last step, where that was not done."""
        step = self.trainer.state.global_step
        if not any(each.step == step and LOGGED in each.values for each in self._folder.read_metrics()):
            self._validate(step)

    def _validate(self, step: int) -> None:
        if self.trainer.is_world_process_zero():
            logged = [each.values for each in self._folder.read_metrics()]
            before = [values[LOGGED] for values in logged if LOGGED in values and self._competes(values)]
            measured = asyncio.run(_wait_for(self._measure))
            self._folder.keep_metrics(step, measured)
            if self._competes(measured) and measured[BY] > max(before, default=float("-inf")):
                self._save(step)

    def _competes(self, measured: Mapping[str, float]) -> bool:
        return measured.get(MISSING, 0.0) <= self._most_missing

    def _save(self, step: int) -> None:
        """Save the policy, and drop those that no restart could want again."""
        place = self._folder.path / BEST / f"step-{step}"
        part = place.with_name(place.name + PART)
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(place, ignore_errors=True)
        self.trainer.save_model(str(part))
        part.rename(place)
        checkpointed = [path for at, path in list_saved(self._folder) if at <= self._folder.checkpoint_step]
        for path in checkpointed[:-1]:
            shutil.rmtree(path)


async def _wait_for(measure: Callable[[], Awaitable[Mapping[str, float]]]) -> Mapping[str, float]:
    return await measure()


def list_saved(folder: TrainingFolder) -> list[tuple[int, Path]]:
    """Return the saved policies with their steps, in order. Each was better than those before."""
    return sorted((step_of(path), path) for path in (folder.path / BEST).glob("step-*") if path.suffix != PART)


def step_of(saved: Path) -> int:
    """Return the step at which a policy was saved."""
    return int(saved.name.rpartition("-")[2])


def deliver_best(folder: TrainingFolder) -> None:
    """Deliver the best policy, and keep its step and its validation as figures of the run."""
    step, best = list_saved(folder)[-1]
    values = {each.step: each.values for each in folder.read_metrics() if LOGGED in each.values}
    first = min(values)
    folder.keep_figures({BEST_STEP: step, BEST_VALIDATION: values[step][LOGGED], "validation before": values[first][LOGGED]})
    part = folder.model.with_name(folder.model.name + PART)
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(best, part)
    deliver_model(part, folder)
