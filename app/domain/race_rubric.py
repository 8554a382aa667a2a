"""RACE's form of a rubric (DeepResearch Bench; MindDR section 4.6 and appendix 8.1): four dimensions with weighted criteria."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from pydantic import Field, model_validator

from app.domain.value import Value


class RaceDimension(StrEnum):
    """The four dimensions of a report."""

    COMPREHENSIVENESS = "comprehensiveness"
    INSIGHT = "insight"
    INSTRUCTION_FOLLOWING = "instruction_following"
    READABILITY = "readability"


class RaceCriterion(Value):
    """One criterion of a dimension, and what it looks at. Weights need not sum to 1 and may exceed it: only proportions count."""

    criterion: str = Field(min_length=1)
    explanation: str = ""
    weight: float = Field(ge=0, allow_inf_nan=False)

    @property
    def shown(self) -> str:
        """The criterion with its explanation, as a judge reads it."""
        return f"{self.criterion}: {self.explanation}" if self.explanation else self.criterion


class RaceRubric(Value):
    """The criteria of one task by dimension, and each dimension's weight. A dimension that is not named counts nothing.

    Raises:
        ValueError: no dimension counts, or one counts without a weighted criterion, or two of its criteria are the same.
    """

    form: Literal["race"] = "race"
    weights: Mapping[RaceDimension, float]
    criteria: Mapping[RaceDimension, tuple[RaceCriterion, ...]]
    model: str = Field(default="", max_length=200)

    @model_validator(mode="after")
    def _check_whole(self) -> "RaceRubric":
        if min(self.weights.values(), default=0.0) < 0 or not 0 < sum(self.weights.values()) < float("inf"):
            raise ValueError("dimension weights must not be negative, nor all zero")
        for dimension in self.counted:
            found = self.criteria.get(dimension, ())
            if not sum(criterion.weight for criterion in found) > 0:
                raise ValueError(f"{dimension} counts, but has no criterion with a weight")
            names = [" ".join(criterion.criterion.split()) for criterion in found]
            if len(set(names)) != len(names):
                raise ValueError(f"two criteria of {dimension} are the same")
        return self

    @property
    def counted(self) -> tuple[RaceDimension, ...]:
        """The dimensions that count, in a fixed order."""
        return tuple(dimension for dimension in RaceDimension if self.weights.get(dimension, 0.0) > 0)
