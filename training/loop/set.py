"""The set that a stage of a cycle learns from, made of its snapshot. `python -m training.loop.set FOLDER`."""

import asyncio
import os
import sys
from pathlib import Path

from app.domain.retraining import StepOutcome, StepTask, StepVerdict
from app.domain.split import Split
from app.domain.step_folder import SET
from app.settings import read_settings
from training.loop.check import KEPT
from training.loop.stage_gate import check_stage_gate
from training.loop.stage_task import require_stage
from training.loop.step import run_step
from training.synthesis.make_requested_set import make_requested_set
from training.synthesis.set_request import SetRequest

ALL_ROWS = 10_000_000


async def make_stage_set(task: StepTask, folder: Path) -> StepOutcome:
    """Make the set. Where it has fewer rows for training than the stage wants, say how many are missing.

    Nothing is made for a model that its gate could not pass.
    """
    check_stage_gate(task)
    stage = require_stage(task)
    export = Path(task.folders["check"]) / KEPT
    request = SetRequest(stage.kind, folder / SET, ALL_ROWS, inputs=(export,), options=stage.options)
    manifest = await make_requested_set(read_settings(os.environ), request, lambda worked: None)
    rows = manifest.rows.get(Split.TRAIN, 0)
    lacks = rows < stage.least_rows
    return StepOutcome(
        verdict=StepVerdict.LACKING if lacks else StepVerdict.DONE,
        detail=f"{rows} rows for training of {stage.least_rows}; {stage.least_rows - rows} are missing" if lacks else "",
        figures={"rows": manifest.rows, "refused": manifest.refused, "notices": manifest.notices},
        usd=manifest.usage.cost_microusd / 1_000_000,
    )


if __name__ == "__main__":
    sys.exit(run_step(lambda task, folder: asyncio.run(make_stage_set(task, folder))))
