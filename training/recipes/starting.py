"""Starting a recipe: its configuration is read, its data checked, its folder opened, and it trains or goes on."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from app.domain.errors import SetupError
from training.base_lineage import digest_base
from training.recipes.catalogue import Recipe, load_recipe
from training.recipes.config import RecipeConfig, read_config
from training.recipes.report_page import write_report
from training.recipes.run_folder import TrainingFolder, TrainingOrigin
from training.recipes.stop_signals import TrainingStopped
from workflows.code_digest import digest_code

PACKAGES = ("torch", "transformers", "trl", "peft", "accelerate", "datasets")
CODE = ("training", "workflows", "retrieval", "app")


def require_packages() -> None:
    """Require what training needs beyond the default installation, and keep the libraries from calling home.

    Raises:
        SetupError: something is missing; the message says how to install it.
    """
    if missing := [name for name in PACKAGES if find_spec(name) is None]:
        raise SetupError(
            f"training needs {', '.join(missing)}: run `make setup-train` in a checkout, or `pip install 'rubrica[train]'`"
        )
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("TQDM_DISABLE", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")


def check_training(name: str, path: Path, models: Path | None, say: Callable[[str], None]) -> tuple[Recipe[Any], RecipeConfig]:
    """Read a recipe's configuration, check its data, and say what the run will take.

    Raises:
        InvalidInput: the recipe, the configuration or the data cannot be used.
        SetupError: a package is missing, or a launcher started several processes.
    """
    recipe = load_recipe(name)
    config = read_config(path, recipe.config, models)
    require_one_process()
    require_packages()
    for line in recipe.check(config).list_lines():
        say(line)
    if config.cost.devices > 1:
        say(f"warning: training is one process on one device; the {config.cost.devices} of cost.devices are only priced")
    return recipe, config


def require_one_process() -> None:
    """Require that no launcher started several processes of this run.

    Raises:
        SetupError: one did.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise SetupError("a run is one process: start `rubrica train` without a launcher (docs/training.md, Several devices)")


def train(name: str, path: Path, out: Path, models: Path | None, say: Callable[[str], None]) -> TrainingFolder:
    """Train a recipe in a folder, or go on there.

    Raises:
        InvalidInput: the recipe, the configuration, the data or the folder cannot be used.
        Conflict: another process works in the folder, or it holds another run.
        SetupError: a package is missing.
        TrainingStopped: SIGTERM or Ctrl-C came; the same call goes on.
    """
    recipe, config = check_training(name, path, models, say)
    folder = TrainingFolder(out)
    with folder.open_run(describe_run(recipe, config)):
        if folder.is_finished:
            say("this run is finished")
            write_report(folder, config.cost)  # a kill may have come between the model and the last report
            return folder
        if folder.checkpoint_step:
            say(f"goes on after step {folder.checkpoint_step}")
        try:
            recipe.train(config, folder)
        except TrainingStopped as stopped:
            folder.keep_ending(str(stopped))
            write_report(folder, config.cost)
            raise
    return folder


def describe_run(recipe: Recipe[Any], config: RecipeConfig) -> TrainingOrigin:
    """Return everything that decides the run."""
    return TrainingOrigin(
        recipe=recipe.name,
        config=config.model_dump(mode="json"),
        code=digest_code(CODE),
        packages={name: _version_of(name) for name in PACKAGES},
        data=recipe.digest(config),
        base=digest_base(config.model.base),
        device=name_device(config),
        started_at=datetime.now(UTC),
    )


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def name_device(config: RecipeConfig) -> str:
    """Return the name of the GPU that trains, or the CPU with its threads."""
    import torch

    if config.run.device == "auto" and torch.cuda.is_available():
        return str(torch.cuda.get_device_name(0))
    return f"CPU, {torch.get_num_threads()} threads"
