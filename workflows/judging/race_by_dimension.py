"""Comparing two articles by dimension: RACE for judges too small or too expensive for an answer on two dozen criteria.

The judge sees the names of each dimension's criteria and gives each article one score per dimension. This is coarser than RACE,
and no published figure uses it.
"""

from collections.abc import Mapping, Sequence

from pydantic import Field

from app.domain.missing import Missing
from app.domain.race_rubric import RaceDimension
from workflows.agents.kit import Kit
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge
from workflows.judging.race_judge import MOST_POINTS, CriterionPoints


class PairAnswer(StepAnswer):
    """Both articles' scores."""

    article_1: float = Field(default=-1.0, description="0 to 10")
    article_2: float = Field(default=-1.0, description="0 to 10")


class DimensionsAnswer(StepAnswer):
    """One field for each dimension, so that the schema requires all of them."""

    analysis: str = Field(default="", description="what sets the two apart, in one short sentence")
    comprehensiveness: PairAnswer = PairAnswer()
    insight: PairAnswer = PairAnswer()
    instruction_following: PairAnswer = PairAnswer()
    readability: PairAnswer = PairAnswer()


RACE_DIMENSIONS = declare_step("race_dimensions", DimensionsAnswer, max_tokens=300)


async def compare_by_dimension(
    kit: Kit, task: str, first: str, second: str, criteria: Mapping[RaceDimension, Sequence[str]]
) -> Mapping[RaceDimension, CriterionPoints] | Missing:
    """Return both articles' points for each dimension with criteria; missing if one is not scored or off the scale."""
    listed = "\n".join(f"{dimension}: {'; '.join(names)}" for dimension, names in criteria.items())

    def read(answer: DimensionsAnswer) -> Mapping[RaceDimension, CriterionPoints] | None:
        return _read_points(answer, criteria)

    return await ask_judge(kit, RACE_DIMENSIONS, read, task=task, first_article=first, second_article=second, criteria=listed)


def _read_points(
    answer: DimensionsAnswer, asked: Mapping[RaceDimension, Sequence[str]]
) -> Mapping[RaceDimension, CriterionPoints] | None:
    said: dict[RaceDimension, PairAnswer] = {dimension: getattr(answer, dimension) for dimension in asked}
    points = {dimension: CriterionPoints(pair.article_1, pair.article_2) for dimension, pair in said.items()}
    in_range = all(0.0 <= score <= MOST_POINTS for pair in points.values() for score in pair)
    return points if in_range else None
