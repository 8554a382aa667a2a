"""The configuration of an exam, a TOML file beside the plan. Its `kind` decides what is asked."""

import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from app.domain.errors import InvalidInput
from app.domain.query import SystemName
from app.domain.rubric_score import Aggregation
from app.domain.split import Split
from app.domain.value import Value
from training.recipes.chain_section import ChainSection
from training.recipes.judge_section import JudgeSection
from workflows.agents.reporting.whole_prompt import WHOLE_REPORT

OWN_SET = "@set"
"""Stands for the set of the stage."""


class ExamKind(StrEnum):
    """The kinds of exams."""

    RUBRICS = "rubrics"
    REPORTS = "reports"
    SEARCHES = "searches"


class ExamConfig(Value):
    """What all exams say: of which held-out splits they ask, how much, and who judges. `most_items` 0: all.

    At most `at_once` items are asked for at a time.
    """

    kind: ExamKind
    splits: tuple[Split, ...] = (Split.TEST,)
    most_items: int = Field(default=0, ge=0)
    at_once: int = Field(default=16, ge=1)
    judge: JudgeSection | None = None


class RubricExamConfig(ExamConfig):
    """An exam of rubrics. Without `judge` the rules of planted preferences judge: for trials.

    An answer has at most `most_tokens`; of each `probe_each`-th pair spoilt answers are judged too. `aggregation` turns the
    ratings of a rubric's items into a report's score (QSR Eq. 2 as published, or bounded).
    """

    kind: Literal[ExamKind.RUBRICS] = ExamKind.RUBRICS
    most_tokens: int = Field(default=4_000, ge=1)
    probe_each: int = Field(default=1, ge=1)
    aggregation: Aggregation = Aggregation.BOUNDED


class ReportExamConfig(ExamConfig):
    """An exam of reports over rows of `sets` (report-data, self-samples) and over recorded runs, which have no splits.

    Without `judge` rules alone mark. With one, the rubric of the row does, or the one that the model of `[generator]` writes for
    the question (`@rubric`: the generator of the stage); of each `probe_each`-th report spoilt ones are judged too.
    """

    kind: Literal[ExamKind.REPORTS] = ExamKind.REPORTS
    sets: tuple[str, ...] = Field(default=(OWN_SET,), min_length=1)
    most_tokens: int = Field(default=WHOLE_REPORT.max_tokens, ge=1)
    probe_each: int = Field(default=1, ge=1)
    aggregation: Aggregation = Aggregation.BOUNDED
    generator: JudgeSection | Literal["@rubric"] | None = None


class SearchWorld(Value):
    """The collections that are searched, opened from the folder `home`: nobody else may have it open, so both see one state.

    `states` names the state that an index must have (its generation), by collection.
    """

    home: Path
    collections: tuple[str, ...] = Field(min_length=1)
    states: dict[str, str] = Field(default={})


class SearchExamConfig(ExamConfig):
    """An exam of searches over sets whose rows have an `answer`.

    Without `system` the model is the product's deep-search agent on the whole question; with one it has every role of that
    system, as `agent_rl` trains it. Without `judge` an answer is right that is short and names the known one.
    """

    kind: Literal[ExamKind.SEARCHES] = ExamKind.SEARCHES
    sets: tuple[str, ...] = Field(default=(OWN_SET,), min_length=1)
    world: SearchWorld
    chain: ChainSection
    system: SystemName | None = None


AnyExam: TypeAlias = RubricExamConfig | ReportExamConfig | SearchExamConfig
_EXAM: TypeAdapter[AnyExam] = TypeAdapter(Annotated[AnyExam, Field(discriminator="kind")])


def read_exam(path: Path) -> AnyExam:
    """Read an exam's configuration.

    Raises:
        InvalidInput: it is no TOML, or says something that it may not; or it would examine on rows for training.
    """
    try:
        config = _EXAM.validate_python(tomllib.loads(path.read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path} is no TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidInput(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    if Split.TRAIN in config.splits:
        raise InvalidInput(f"{path}: an exam asks nothing that was learned from; take train out of splits")
    return config
