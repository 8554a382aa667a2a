"""Where cycles are worked."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

from app.domain.retraining import Cycle, StepOutcome
from app.models.service.cycle_order import Step, StepKind
from workflows.durable.retraining.processes import LocalProcesses, StepProcesses
from workflows.durable.workshop import Workshop

OwnStep = Callable[["LoopWorkplace", Cycle, Step, Mapping[str, StepOutcome]], Awaitable[StepOutcome]]


@dataclass(frozen=True)
class LoopWorkplace:
    """Where cycles are worked: the database, the folder of all cycles, the Python that trains, and who runs processes.

    `own_steps` are those that need no process, by their kinds.
    """

    database: asyncpg.Pool
    folder: Path
    python: str
    processes: StepProcesses = field(default_factory=LocalProcesses)
    own_steps: Mapping[StepKind, OwnStep] = field(default_factory=dict)

    def folder_of(self, cycle: Cycle, step: Step) -> Path:
        """Return the folder of a step: it has one from its beginning, whoever looks."""
        return self.folder / str(cycle.id) / step.name

    def folder_of_plan(self, cycle: Cycle) -> Path:
        """Return the folder with the files of a cycle's plan."""
        return self.folder / str(cycle.id) / "plan"


def open_workplace(shop: Workshop) -> LoopWorkplace:
    """Return where this worker works cycles."""
    return LoopWorkplace(shop.database, shop.loop, shop.train_python)
