"""Runs of recipes at toy size: a recipe's own toy.toml over small sets of a test's folder, with fewer steps."""

import os
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import training.recipes
from tests.support.training_sets import write_set
from training.recipes.run_folder import TrainingFolder

RECIPES = Path(training.recipes.__file__).parent
OFFLINE = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}


def write_toy(folder: Path, recipe: str, rows: int = 20, **sections: Mapping[str, Any]) -> Path:
    """Write the sets that a recipe's toy.toml names beside a copy of it, and change some values of its sections."""
    said = tomllib.loads((RECIPES / recipe / "toy.toml").read_text())
    kinds = [Path(path).name for path in said["data"]["sets"]]
    for kind in kinds:
        if not (folder / kind).exists():
            write_set(folder / kind, kind, rows)
    said["data"]["sets"] = kinds
    for name, values in sections.items():
        said[name] = said.get(name, {}) | values
    path = folder / f"{recipe}.toml"
    path.write_text(render_toml(said))
    return path


def cut_off(finished: Path, step: int, path: Path) -> Path:
    """Make the folder that a kill leaves after a checkpoint: later steps are logged, nothing of them is saved."""
    shutil.copytree(finished, path)
    shutil.rmtree(path / "model")
    for checkpoint in (path / "checkpoints").glob("checkpoint-*"):
        if int(checkpoint.name.rpartition("-")[2]) > step:
            shutil.rmtree(checkpoint)
    with (path / "metrics.jsonl").open("a") as file:
        file.write('{"step": 9')
    return path


def read_curves(folder: TrainingFolder) -> list[tuple[int, dict[str, float]]]:
    """Return what was logged, without what a clock says."""
    return [
        (each.step, {name: value for name, value in each.values.items() if name != "step_time"}) for each in folder.read_metrics()
    ]


def measure_moved(run: TrainingFolder) -> dict[str, float]:
    """Return the share of the weights that a run moved, for each matrix of its tiny base."""
    from safetensors.torch import load_file

    before, after = (load_file(folder / "model.safetensors") for folder in (run.path / "base", run.model))
    matrices = {name: old.to(after[name].dtype) for name, old in before.items() if old.dim() > 1}
    return {name: float((after[name] != old).float().mean()) for name, old in matrices.items()}


def render_toml(said: Mapping[str, Any]) -> str:
    """Render values, then sections and lists of sections, as TOML."""
    sections = {name: values for name, values in said.items() if isinstance(values, dict | list)}
    lines = [f"{name} = {render_value(value)}" for name, value in said.items() if name not in sections]
    for name, values in sections.items():
        for head, each in [(f"[{name}]", values)] if isinstance(values, dict) else [(f"[[{name}]]", each) for each in values]:
            lines += [head, *(f"{key} = {render_value(value)}" for key, value in each.items())]
    return "\n".join(lines) + "\n"


def render_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {render_value(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(render_value, value)) + "]"
    return repr(value).replace("'", '"')
