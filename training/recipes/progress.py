"""What a trainer logs goes into the run's folder, and its report is written anew."""

import time
from typing import Any

from transformers import TrainerCallback

from training.recipes.config import CostSection
from training.recipes.report_page import write_report
from training.recipes.run_folder import TrainingFolder

REPORT_EVERY = 15.0
"""Seconds between two writings of the report."""
NOT_KEPT = frozenset({"epoch", "num_tokens", "total_flos"})
"""TRL counts tokens from zero after a resume, so they are no part of a run's curves."""


class ProgressCallback(TrainerCallback):  # type: ignore[misc]
    """Keeps what is logged, on the first process."""

    def __init__(self, folder: TrainingFolder, cost: CostSection) -> None:
        self._folder, self._cost = folder, cost
        self._written = time.monotonic()

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        """Keep the numbers of a step. The summary at the end of training is none."""
        values = {name: float(value) for name, value in (logs or {}).items() if name not in NOT_KEPT and _is_number(value)}
        if not state.is_world_process_zero or not values or "train_runtime" in values:
            return
        self._folder.keep_metrics(state.global_step, values)
        if time.monotonic() - self._written > REPORT_EVERY:
            write_report(self._folder, self._cost)
            self._written = time.monotonic()


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
