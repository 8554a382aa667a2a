"""The configuration of the rubric generator."""

from enum import StrEnum

from pydantic import Field

from app.domain.rubric_score import Aggregation
from app.domain.value import Value
from training.recipes.config import ConfigPath
from training.recipes.judge_section import JudgeSection
from training.recipes.reinforcement.config import ReinforcementConfig


class DataSection(Value):
    """Sets of `preference-pairs`, planted ones too. `most_rows` 0: all rows."""

    sets: tuple[ConfigPath, ...] = Field(min_length=1)
    most_rows: int = Field(default=0, ge=0)


class Mode(StrEnum):
    """What rewards a rubric, beside its form: the judge's view of it, the preference that it repeats, or both (QSR Table 1)."""

    JUDGE_ONLY = "judge_only"
    PREFERENCE_ONLY = "preference_only"
    HYBRID = "hybrid"


class Scaling(StrEnum):
    """The range of the judge's quality in the sum of QSR Eq. 1.

    `published` takes it from 0 to 4, so that it has twice the range of the preference, which is -1 or +1, and outweighs it.
    `balanced` takes it from -1 to +1.
    """

    PUBLISHED = "published"
    BALANCED = "balanced"


class RewardSection(Value):
    """The reward. `preference` and `quality` are the lambdas of QSR Eq. 1; a mode sets one of them to 0.

    `aggregation` turns the ratings of a rubric's items into a report's score: Eq. 2 as published, or bounded (ADR 0025).
    """

    mode: Mode = Mode.HYBRID
    preference: float = Field(default=1.0, ge=0)
    quality: float = Field(default=1.0, ge=0)
    scaling: Scaling = Scaling.PUBLISHED
    aggregation: Aggregation = Aggregation.PUBLISHED

    @property
    def preference_weight(self) -> float:
        """The weight of the preference in this mode."""
        return 0.0 if self.mode is Mode.JUDGE_ONLY else self.preference

    @property
    def quality_weight(self) -> float:
        """The weight of the quality in this mode."""
        return 0.0 if self.mode is Mode.PREFERENCE_ONLY else self.quality


class RubricGeneratorConfig(ReinforcementConfig):
    """The rubric generator: data, reward, and the judge that applies a rubric to reports and rates it.

    Without `judge` the rules of planted preferences judge (`rule_judge.py`): for trials.
    """

    data: DataSection
    reward: RewardSection = RewardSection()
    judge: JudgeSection | None = None
