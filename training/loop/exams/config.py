"""The configuration of an exam, a TOML file beside the plan."""

import tomllib
from enum import StrEnum
from pathlib import Path

from pydantic import Field, ValidationError

from app.domain.errors import InvalidInput
from app.domain.rubric_score import Aggregation
from app.domain.split import Split
from app.domain.value import Value
from training.recipes.judge_section import JudgeSection


class ExamKind(StrEnum):
    """The kinds of exams."""

    RUBRICS = "rubrics"


class ExamConfig(Value):
    """What is asked, of which held-out splits, and who judges. Without `judge` the rules of planted preferences do: for trials.

    `most_items` 0: all. An answer has at most `most_tokens`. At most `at_once` items are asked for at a time; of each
    `probe_each`-th spoilt answers are judged too. `aggregation` turns the ratings of a rubric's items into a report's score (QSR
    Eq. 2 as published, or bounded).
    """

    kind: ExamKind
    splits: tuple[Split, ...] = (Split.TEST,)
    most_items: int = Field(default=0, ge=0)
    most_tokens: int = Field(default=4_000, ge=1)
    at_once: int = Field(default=16, ge=1)
    probe_each: int = Field(default=1, ge=1)
    aggregation: Aggregation = Aggregation.BOUNDED
    judge: JudgeSection | None = None


def read_exam(path: Path) -> ExamConfig:
    """Read an exam's configuration.

    Raises:
        InvalidInput: it is no TOML, or says something that it may not; or it would examine on rows for training.
    """
    try:
        config = ExamConfig.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path} is no TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidInput(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    if Split.TRAIN in config.splits:
        raise InvalidInput(f"{path}: an exam asks nothing that was learned from; take train out of splits")
    return config
