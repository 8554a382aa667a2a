"""Where cycles are worked."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

from app.domain.retraining import Cycle, StepOutcome
from app.domain.training_stage import TrainingStage
from app.models.artifacts.ports import ArtifactStore
from app.models.service.cycle_order import ONCE, Step, StepKind
from workflows.durable.retraining.processes import LocalProcesses, StepProcesses

OwnStep = Callable[["LoopWorkplace", Cycle, Step, Mapping[str, StepOutcome]], Awaitable[StepOutcome]]


@dataclass(frozen=True)
class LoopWorkplace:
    """Where cycles are worked: the database, the folder of all cycles, the Python that trains, and who runs processes.

    `own_steps` are those that need no process, by their kinds.
    """

    database: asyncpg.Pool
    folder: Path
    python: str
    artifacts: ArtifactStore
    processes: StepProcesses = field(default_factory=LocalProcesses)
    own_steps: Mapping[StepKind, OwnStep] = field(default_factory=dict)

    def folder_of(self, cycle: Cycle, step: Step) -> Path:
        """Return the folder of a step: it has one from its beginning, whoever looks."""
        return self.folder / str(cycle.id) / step.name

    def folders_of(self, cycle: Cycle, stage: TrainingStage | None) -> dict[StepKind, Path]:
        """Return the folders of a stage's steps, and of those that are taken once a cycle."""
        kinds = StepKind if stage else ONCE
        return {kind: self.folder_of(cycle, Step(kind, None if kind in ONCE else stage)) for kind in kinds}

    def folder_of_plan(self, cycle: Cycle) -> Path:
        """Return the folder with the files of a cycle's plan."""
        return self.folder / str(cycle.id) / "plan"
