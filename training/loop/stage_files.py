"""The files of a stage, read before anything is made: a fault of the gate's shall not come to light after hours of training."""

import tomllib
from pathlib import Path

from app.domain.errors import InvalidInput
from app.domain.retraining import StepTask
from training.loop.exams.config import read_exam
from training.loop.gates.plan import read_plan
from training.loop.stage_task import require_stage
from training.recipes.judge_section import JudgeSection


def check_stage_files(task: StepTask) -> None:
    """Read the recipe's, the exam's and the gate's file.

    Raises:
        InvalidInput: one cannot be used, or the exam's judge is the reward's: a policy that learned what one judge overlooks
            would be examined by the judge that overlooks it.
    """
    stage, plan = require_stage(task), Path(task.plan)
    read_plan(plan / stage.gate, task.began_at)
    judge = _name_judge(read_exam(plan / stage.exam).judge)
    if judge in _list_reward_judges(plan / stage.config):
        raise InvalidInput(f"{stage.exam} and {stage.config} have the same judge, {judge}; the exam wants another one ([judge])")


def _list_reward_judges(config: Path) -> set[str]:
    """Return the judges that a recipe's file names; the rules, where it names none."""
    try:
        told = tomllib.loads(config.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{config.name} is no TOML: {error}") from error
    named = told.get("judges", [told.get("judge")])
    return {_name_judge(None if each is None else JudgeSection.model_validate(each)) for each in named}


def _name_judge(section: JudgeSection | None) -> str:
    return "the rules of planted preferences" if section is None else f"{section.model} at {section.url}"
