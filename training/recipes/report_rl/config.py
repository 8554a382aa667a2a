"""The configuration of Report-RL."""

from datetime import date
from enum import StrEnum
from typing import Literal

from pydantic import Field, model_validator

from app.domain.rubric_score import Aggregation
from app.domain.value import Value
from training.recipes.config import ConfigPath
from training.recipes.judge_section import JudgeSection
from training.recipes.reinforcement.config import ReinforcementConfig


class Writer(StrEnum):
    """Who writes the report: one call of the policy, or one call for each section of the outline."""

    ONE_CALL = "one_call"
    SECTIONS = "sections"


class ReportDataSection(Value):
    """Sets of `report-data`, and the form of the rows that are taken: with retrieval and outline (long), without, or both."""

    sets: tuple[ConfigPath, ...] = Field(min_length=1)
    form: Literal["long", "short", "mixed"] = "mixed"


class WriterSection(Value):
    """Who writes. Section writers are told the day `today`, read `evidence_chars` characters and aim at `section_words` words."""

    kind: Writer = Writer.ONE_CALL
    today: date = date(2026, 1, 1)
    evidence_chars: int = Field(default=36_000, ge=1)
    section_words: int = Field(default=450, ge=1)


class ReportRewardSection(Value):
    """The reward of MDR Eq. 12.

    `race`: without it no judge compares the report with its reference, and that part is 0. A citation is valid whose relevance
    is above `threshold`; `relevance` is measured by a judge, by the cosine of the house's encoder, or by shared words.
    `citation_weight` and `format_weight` are the lambdas. `published` counts citations as the formula alone says (ADR 0042).
    `rubric_weight` adds the report's score by a query-specific rubric (QSR Eq. 2, by `aggregation`) beside RACE; the model of
    `[generator]` writes the rubric.
    """

    race: bool = True
    relevance: Literal["judge", "encoder", "words"] = "judge"
    threshold: float = Field(default=0.5, ge=0, lt=1)
    citation_weight: float = Field(default=1.0, ge=0)
    format_weight: float = Field(default=0.1, ge=0)
    published: bool = False
    rubric_weight: float = Field(default=0.0, ge=0)
    aggregation: Aggregation = Aggregation.BOUNDED


class ReportConfig(ReinforcementConfig):
    """Report-RL: data, writer, reward and, where the reward asks them, its judge and the writer of its rubrics."""

    data: ReportDataSection
    writer: WriterSection = WriterSection()
    reward: ReportRewardSection = ReportRewardSection()
    judge: JudgeSection | None = None
    generator: JudgeSection | None = None

    @model_validator(mode="after")
    def _fit_writer(self) -> "ReportConfig":
        if self.writer.kind is Writer.SECTIONS and self.data.form != "long":
            raise ValueError("section writers need retrieval and outline: set data.form = 'long'")
        if bool(self.reward.rubric_weight) != (self.generator is not None):
            raise ValueError("reward.rubric_weight counts the rubrics that the model of [generator] writes: set both, or neither")
        if self.judge is None and (self.reward.race or self.reward.relevance == "judge" or self.generator):
            raise ValueError("the reward asks a judge: name its url and model under [judge]")
        return self
