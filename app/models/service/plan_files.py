"""The plan of a cycle as files: read strictly, and copied, so that nobody changes a plan that is under way."""

import os
import shutil
import tomllib
from pathlib import Path

from pydantic import ValidationError

from app.domain.errors import InvalidInput
from app.domain.retraining import CyclePlan

PLAN, PLANS = "plan.toml", "plans"


def read_plan(path: Path) -> CyclePlan:
    """Read a plan.

    Raises:
        InvalidInput: it is no TOML, says something that it may not, or names a file that is not there.
    """
    try:
        plan = CyclePlan.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is no TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidInput(f"{path}: {where}: {first['msg'].removeprefix('Value error, ')}") from error
    if missing := [name for name in plan.files if not (path.parent / name).is_file()]:
        raise InvalidInput(f"{path} names {', '.join(missing)}, and there is no such file beside it")
    return plan


def copy_plan(path: Path, plan: CyclePlan, folder: Path) -> None:
    """Copy a plan with its files into a folder that holds nothing else; one that is there is replaced as a whole."""
    new = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(mode=0o700, parents=True)
    shutil.copyfile(path, new / PLAN)
    for name in plan.files:
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path.parent / name, new / name)
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(new, folder)


def stored_plan(folder: Path, name: str) -> Path:
    """Return where the plan of a schedule is kept, in the folder of cycles."""
    return folder / PLANS / name / PLAN


def list_stored_plans(folder: Path) -> list[str]:
    """Return the names of the plans that are kept for schedules, some of which may have ended."""
    kept = (path.parent.name for path in sorted((folder / PLANS).glob(f"*/{PLAN}")))
    return [name for name in kept if "." not in name]  # one that is being copied has another name
