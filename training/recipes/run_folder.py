"""The folder of a training run.

origin.json    what decides the run: resolved configuration, code, packages, digests of data and base model
metrics.jsonl  a line for each logged step          figures.json  figures of the whole run, such as rates before and after
samples.html   examples with their masks            report.html   curves and costs, written anew as the run goes
rollouts/      what a policy wrote, a line a group  samples-50.html   the rollouts that stood in samples.html at step 50
checkpoints/   from which the same command goes on  model/        the trained adapter or weights, when the run is over
ending.txt     why the run ended before its last step, if it did
"""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import Field

from app.domain.errors import Conflict
from app.domain.value import Value
from training.evaluation.harness.json_lines import append_line, cut_torn_line, read_lines
from training.folders import lock_folder, replace_file

FORMAT = "rubrica.training_run/1"
BEST_STEP, BEST_VALIDATION = "best step", "best validation"
"""Figures of a run that keeps its best policy: its step and its validation. At step 0 it is the one that the run began with."""
ORIGIN, METRICS, FIGURES, SAMPLES, REPORT = "origin.json", "metrics.jsonl", "figures.json", "samples.html", "report.html"
CHECKPOINTS, MODEL, BASE, ROLLOUTS = "checkpoints", "model", "base", "rollouts"
COMPARED = ("format", "recipe", "config", "code", "packages", "data", "base")
STATE, ENDING = "trainer_state.json", "ending.txt"


class TrainingOrigin(Value):
    """Everything that decides a run. `data` and `base` are SHA-256 by name; `code` is a digest of the program."""

    format: str = FORMAT
    recipe: str
    config: dict[str, Any]
    code: str
    packages: dict[str, str]
    data: dict[str, str]
    base: dict[str, str]
    device: str
    started_at: datetime

    def require_same(self, other: "TrainingOrigin") -> None:
        """Require that `other` goes on with this run.

        Raises:
            Conflict: something differs; the message names it.
        """
        if differing := [name for name in COMPARED if getattr(self, name) != getattr(other, name)]:
            raise Conflict(
                f"this folder holds a run with another {', '.join(differing)}; give a new folder, or what it was begun with"
            )


class StepMetrics(Value):
    """What was logged at a step. `seconds` is the time that the run has taken so far, over all its attempts."""

    step: int
    seconds: float
    values: dict[str, float] = Field(default_factory=dict)


class TrainingFolder:
    """The folder of one run. A kill at any moment loses at most the steps since the last checkpoint."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._began = time.monotonic()
        self._spent = 0.0

    @contextmanager
    def open_run(self, origin: TrainingOrigin) -> Iterator[None]:
        """Begin a run here, or go on with the same run.

        Raises:
            Conflict: another process works in the folder, or it holds another run.
            InvalidInput: the folder holds something that is no run, or cannot be written.
        """
        with lock_folder(self.path, ORIGIN):
            if (begun := self.read_origin()) is not None:
                begun.require_same(origin)
            else:
                replace_file(self.path / ORIGIN, origin.model_dump_json(indent=1).encode())
            cut_torn_line(self.path / METRICS)
            self._spent = max((each.seconds for each in self.read_metrics()), default=0.0)
            self._began = time.monotonic()
            self._forget_undone()
            yield

    @property
    def seconds(self) -> float:
        """The time that the run has taken so far, over all its attempts."""
        return self._spent + time.monotonic() - self._began

    @property
    def model(self) -> Path:
        """The folder of the trained model."""
        return self.path / MODEL

    @property
    def is_finished(self) -> bool:
        """Whether the trained model is there."""
        return self.model.exists()

    @property
    def checkpoint(self) -> Path | None:
        """The newest whole checkpoint; None before the first."""
        return next((path for path in reversed(self.list_checkpoints()) if _is_whole(path)), None)

    @property
    def checkpoint_step(self) -> int:
        """The step of the newest checkpoint; 0 before the first."""
        return _step_of(self.checkpoint) if self.checkpoint else 0

    def list_checkpoints(self) -> list[Path]:
        """List the checkpoints in the order of their steps, those among them that a kill left half."""
        return sorted((self.path / CHECKPOINTS).glob("checkpoint-*"), key=_step_of)

    @property
    def origin(self) -> TrainingOrigin:
        """The origin of the run that was begun here."""
        return TrainingOrigin.of_any_version((self.path / ORIGIN).read_bytes())

    def read_origin(self) -> TrainingOrigin | None:
        """Read the origin of the run that was begun here; None where none was."""
        return self.origin if (self.path / ORIGIN).exists() else None

    def read_metrics(self) -> list[StepMetrics]:
        """Read what was logged."""
        return list(read_lines(self.path / METRICS, StepMetrics))

    def keep_metrics(self, step: int, values: Mapping[str, float]) -> None:
        """Append what was logged at a step."""
        append_line(self.path / METRICS, StepMetrics(step=step, seconds=round(self.seconds, 3), values=dict(values)))

    def read_figures(self) -> dict[str, float]:
        """Read the figures of the whole run."""
        kept = self.path / FIGURES
        return dict(json.loads(kept.read_bytes())) if kept.exists() else {}

    def keep_figures(self, figures: Mapping[str, float]) -> None:
        """Add figures of the whole run to those that are there."""
        replace_file(self.path / FIGURES, json.dumps(self.read_figures() | dict(figures), indent=1).encode())

    @property
    def ending(self) -> str:
        """Why the run ended before its last step; empty where it did not."""
        kept = self.path / ENDING
        return kept.read_text(encoding="utf-8") if kept.exists() else ""

    def keep_ending(self, why: str) -> None:
        """Keep why the run ends before its last step."""
        replace_file(self.path / ENDING, why.encode())

    def _forget_undone(self) -> None:
        """Drop what was logged after the checkpoint from which the run goes on: it is done again.

        Without a checkpoint that is everything, also what was measured before the first step.
        """
        if self.is_finished:
            return
        (self.path / ENDING).unlink(missing_ok=True)
        kept = [each for each in self.read_metrics() if self.checkpoint and each.step <= self.checkpoint_step]
        replace_file(self.path / METRICS, b"".join(each.model_dump_json().encode() + b"\n" for each in kept))


def _is_whole(checkpoint: Path) -> bool:
    """Say whether the file that is written last was written to its end."""
    try:
        json.loads((checkpoint / STATE).read_bytes())
    except (OSError, json.JSONDecodeError):
        return False
    return True


def _step_of(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])
