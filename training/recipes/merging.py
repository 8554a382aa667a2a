"""Merging: the adapter that a run trained becomes part of its base, as whole weights that the next recipe begins with."""

import shutil
from pathlib import Path
from typing import Any

from app.domain.errors import InvalidInput
from training.base_lineage import digest_base
from training.folders import PART
from training.recipes.config import TINY, BaseModelSection
from training.recipes.policy import CARD, load_model, render_card
from training.recipes.run_folder import BASE, BEST_STEP, BEST_VALIDATION, TrainingFolder, TrainingOrigin
from training.recipes.starting import require_packages

ADAPTER = "adapter_model.safetensors"


def merge_adapter(run: Path, out: Path, unimproved: bool = False) -> Path:
    """Write the base of a finished run with its adapter as a model folder: safetensors, tokenizer, chat template, card.

    Weights have the type in which the run trained; a longer context (`rope_factor`) is in their configuration. The folder
    appears as a whole. `unimproved`: also of a run whose best policy is the one that it began with.

    Raises:
        InvalidInput: there is no finished run with an adapter, nothing in it was better than what it began with, its base has
            changed, or `out` exists.
        SetupError: a package is missing.
    """
    require_packages()
    folder = TrainingFolder(run)
    base = _find_base(folder, _require_adapter(folder))
    if not unimproved:
        _require_better(folder)
    if out.exists():
        raise InvalidInput(f"{out} exists; name a new folder")
    part = out.with_name(out.name + PART)
    shutil.rmtree(part, ignore_errors=True)
    _merge(folder, base, part)
    about = f"Weights of the base with the LoRA adapter of the run `{run.resolve().name}` merged in"
    (part / CARD).write_text(render_card(folder, "transformers", about), encoding="utf-8")
    part.rename(out)
    return out


def _require_adapter(folder: TrainingFolder) -> TrainingOrigin:
    origin = folder.read_origin()
    if origin is None or not folder.is_finished:
        raise InvalidInput(f"{folder.path} holds no finished run of `rubrica train`")
    if not (folder.model / ADAPTER).exists():
        raise InvalidInput(f"{folder.model} is no adapter: there is nothing to merge, and a recipe takes it as its base")
    return origin


def _require_better(folder: TrainingFolder) -> None:
    figures = folder.read_figures()
    if figures.get(BEST_STEP) == 0:
        raise InvalidInput(
            f"the best policy of {folder.path} is the one that it began with (validation {figures[BEST_VALIDATION]:.3g}, and no "
            "more after any step): merged it would be the base again. Change task, data or rates, or say --unimproved"
        )


def _find_base(folder: TrainingFolder, origin: TrainingOrigin) -> str:
    base = str(origin.config["model"]["base"])
    if base == TINY:
        return str(folder.path / BASE)
    if digest_base(base) != origin.base:
        raise InvalidInput(f"{base} is not as it was when the run began; put the base model of the run there again")
    return base


def _merge(folder: TrainingFolder, base: str, out: Path) -> None:
    from peft import PeftModel
    from transformers import AutoTokenizer

    section = BaseModelSection.model_validate(folder.origin.config["model"])
    policy: Any = PeftModel.from_pretrained(load_model(section, base, section.dtype), str(folder.model))
    try:
        merged = policy.merge_and_unload(safe_merge=True)
    except ValueError as error:
        raise InvalidInput(f"the adapter of {folder.path} cannot be merged: {error}") from error
    merged.save_pretrained(out)
    AutoTokenizer.from_pretrained(folder.model).save_pretrained(out)
