"""Do the work of `rubrica models`."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from app.settings import Settings
from infra.cli.execute import FAILED, say
from infra.local.own_servers import describe_own_models, find_own_models
from retrieval.encoding.weight_files import Told
from workflows.chat_models.local_models import (
    MEGABYTE,
    LocalModel,
    fetch_model,
    find_present,
    find_verified,
    name_model,
    read_model_catalogue,
)

TOLD_EVERY = 10
"""Percents of a download between two lines about it."""


async def show_models(settings: Settings) -> int:
    """Print a line for each model."""
    for name, model in read_model_catalogue().items():
        low, high = model.minutes
        found = find_present(model, _list_folders(settings))
        print(
            f"{name:20} {model.file.bytes // MEGABYTE:>6,} MB  {model.licence}  context {model.context:,}  "
            f"memory {model.memory_mb:,} MB  {low} to {high} min a quick report  {found or 'not here'}"
        )
    for line in describe_own_models(await find_own_models()):
        print(line)
    say("Minutes are for two cores. `rubrica models fetch NAME` downloads one, RUBRICA_LOCAL_MODEL=NAME has it served.")
    return 0


async def fetch(settings: Settings, names: Sequence[str]) -> int:
    """Fetch models, one after the other, and print where each is."""
    for name, model in {name: name_model(name) for name in names}.items():
        cache = settings.home / "models"
        print(await asyncio.to_thread(fetch_model, model, settings.models_dir, cache, _tell_progress(name, model.file.bytes)))
    return 0


async def check(settings: Settings, names: Sequence[str]) -> int:
    """Verify models. Return 1 when one that was named is missing, or one is damaged."""
    folders = _list_folders(settings)
    chosen = {name: name_model(name) for name in names} or {
        name: model for name, model in read_model_catalogue().items() if _find_files(model, folders)
    }
    sound = [await asyncio.to_thread(_check_one, name, model, folders) for name, model in chosen.items()]
    if not chosen:
        say("no model is here")
    return 0 if all(sound) else FAILED


def _check_one(name: str, model: LocalModel, folders: Sequence[Path]) -> bool:
    found = find_verified(model, folders)
    damaged = [path for path in _find_files(model, folders) if path != found]
    for path in damaged:
        print(f"{name:20} damaged: {path}")
    print(f"{name:20} sound: {found}" if found else f"{name:20} not here")
    return found is not None


def _find_files(model: LocalModel, folders: Sequence[Path]) -> list[Path]:
    return [path for folder in folders if (path := folder / model.file.name).is_file()]


def _list_folders(settings: Settings) -> list[Path]:
    return [folder for folder in (settings.models_dir, settings.home / "models") if folder is not None]


def _tell_progress(name: str, total: int) -> Told:
    """Return a listener that says how much of a download is here, every tenth of it."""
    said = -1

    def tell(size: int) -> None:
        nonlocal said
        tenth = 100 * size // total // TOLD_EVERY
        if tenth > said:
            said = tenth
            say(f"{name}: {size // MEGABYTE:,} of {total // MEGABYTE:,} MB")

    return tell
