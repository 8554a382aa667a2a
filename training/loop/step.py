"""One step of a cycle as a process: it reads its task in a folder, works there, and leaves its outcome."""

import sys
from collections.abc import Callable
from pathlib import Path

from app.domain.errors import ModelUnavailable, RubricaError, Unavailable
from app.domain.retraining import StepOutcome, StepTask, StepVerdict
from app.domain.step_folder import OUTCOME, SERVER_AWAY, SIGNALLED, TASK
from training.folders import replace_file
from training.recipes.stop_signals import TrainingStopped

StepWork = Callable[[StepTask, Path], StepOutcome]


def run_step(work: StepWork) -> int:
    """Do a step's work in the folder that the command line names. Return an exit code: 0 wherever there is an outcome.

    What cannot be used is an outcome too, which says what to do. A step that was asked to stop leaves none, nor
    does one whose server is away: it goes on later.
    """
    folder = Path(sys.argv[1]).resolve()
    try:
        task = StepTask.of_any_version((folder / TASK).read_bytes())
        outcome = work(task, folder)
    except TrainingStopped as stopped:
        return SIGNALLED + stopped.received
    except (ModelUnavailable, Unavailable) as error:
        print(error)
        return SERVER_AWAY
    except RubricaError as error:
        outcome = StepOutcome(verdict=StepVerdict.FAILED, detail=str(error))
    replace_file(folder / OUTCOME, outcome.model_dump_json(indent=1).encode())
    return 0
