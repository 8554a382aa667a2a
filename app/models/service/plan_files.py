"""The plan of a cycle as files: read strictly, and copied, so that nobody changes a plan that is under way."""

import os
import shutil
import tomllib
from pathlib import Path

from pydantic import ValidationError

from app.domain.errors import InvalidInput
from app.domain.key_faults import describe_faults
from app.domain.retraining import CyclePlan
from app.domain.training_stage import THE_EXPORT

PLAN, PLANS = "plan.toml", "plans"
OF_EXPORTS = "preference-pairs"
"""The kind of set that is made of readers' choices. All others are made of runs, of other sets, or of collections."""


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
        raise InvalidInput(f"{path}: {'; '.join(describe_faults(error, CyclePlan))}") from error
    if missing := [name for name in plan.files if not (path.parent / name).is_file()]:
        raise InvalidInput(f"{path} names {', '.join(missing)}, and there is no such file beside it")
    for stage in plan.stages:
        if stage.kind != OF_EXPORTS and THE_EXPORT in stage.inputs:
            raise InvalidInput(
                f"{path}: no export is made into {stage.kind}, the set of {stage.name}: name under inputs what it is made of, or "
                "say inputs = [] and name collections"
            )
    return plan


def require_inputs(plan: CyclePlan) -> None:
    """Require that all inputs of a plan are on this machine.

    Raises:
        InvalidInput: one is not; the message names it.
    """
    for stage in plan.stages:
        named = [name for name in (*stage.inputs, stage.home) if name and name != THE_EXPORT]
        if missing := [name for name in named if not Path(name).exists()]:
            raise InvalidInput(f"the set of {stage.name} is to be made of {', '.join(missing)}, and there is no such path")


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
