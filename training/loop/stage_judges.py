"""The judges of a stage: what examines a model is not what rewarded it."""

import tomllib
from collections.abc import Iterable
from pathlib import Path

from app.domain.errors import InvalidInput
from training.loop.exams.config import AnyExam, ExamKind
from training.recipes.judge_section import JudgeSection


def require_other_judges(config: Path, exams: Iterable[AnyExam]) -> None:
    """Require that no exam is judged by what the recipe's file names as judge of the reward.

    A policy that learned what one judge overlooks would be examined by the judge that overlooks it. Rules that count faults may
    do both; those of planted preferences may not.

    Raises:
        InvalidInput: the file cannot be read, or names the same judge.
    """
    rewarding = {_name_judge(judge) for judge in list_reward_judges(config)}
    for exam in exams:
        if (exam.judge or exam.kind is ExamKind.RUBRICS) and (judge := _name_judge(exam.judge)) in rewarding:
            raise InvalidInput(f"the exam {exam.kind} and {config.name} have one judge, {judge}; give the exam another [judge]")


def list_reward_judges(config: Path) -> list[JudgeSection | None]:
    """Return the judges that a recipe's file names; None, the rules, where it names none.

    Raises:
        InvalidInput: the file is no TOML.
    """
    try:
        told = tomllib.loads(config.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{config.name} is no TOML: {error}") from error
    named = told.get("judges", [told.get("judge")])
    return [None if each is None else JudgeSection.model_validate(each) for each in named]


def _name_judge(section: JudgeSection | None) -> str:
    return "the rules of planted preferences" if section is None else f"{section.model} at {section.url}"
