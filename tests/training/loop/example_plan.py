"""The example plan of docs/loop.md in a folder of its own, with a base in a folder of models."""

import shutil
from pathlib import Path

from app.settings import Settings
from training.loop import check_plan

EXAMPLE = Path(check_plan.__file__).parent / "example"


def copy_example(folder: Path) -> tuple[Path, Settings]:
    """Copy the example; return its plan and settings with its base."""
    shutil.copytree(EXAMPLE, folder / "weekly")
    (folder / "models/base").mkdir(parents=True)
    (folder / "models/base/config.json").write_text("{}")
    return folder / "weekly/plan.toml", Settings(models_dir=folder / "models")


def change(plan: Path, file: str, old: str, new: str) -> None:
    """Change one thing in a file of the plan."""
    place = plan.parent / file
    text = place.read_text()
    assert old in text
    place.write_text(text.replace(old, new, 1))
