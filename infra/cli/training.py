"""`rubrica train`: a recipe trains a policy on a set of `rubrica data`."""

from pathlib import Path

from infra.cli.execute import say
from infra.local.interrupt import is_ignored, name_stop
from training.recipes.merging import merge_adapter
from training.recipes.run_folder import MODEL, REPORT
from training.recipes.starting import check_training, train
from training.recipes.stop_signals import TrainingStopped

NOTHING_LEFT = 4
SIGNALLED = 128


def check(recipe: str, config: Path, models: Path | None) -> int:
    """Print what a run will take."""
    check_training(recipe, config, models, print)
    return 0


def merge(run: Path, out: Path, unimproved: bool) -> int:
    """Merge a run's adapter into its base, and print where the weights are."""
    print(merge_adapter(run, out, unimproved))
    return 0


def train_and_report(recipe: str, config: Path, out: Path, models: Path | None) -> int:
    """Train, and print where the model and the report are. The exit code tells a run that ended before its last step."""
    if is_ignored():
        say(f"this command ignores Ctrl-C, as whatever started it wanted; {name_stop()} stops it after the step in hand")
    try:
        folder = train(recipe, config, out, models, say)
    except TrainingStopped as stopped:
        say(f"rubrica: {stopped}")
        return SIGNALLED + stopped.received
    if folder.ending:
        say(f"rubrica: {folder.ending}")
    print(folder.path / MODEL)
    print(folder.path / REPORT)
    return NOTHING_LEFT if folder.ending else 0
