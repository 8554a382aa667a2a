"""Comparing two articles by dimension: RACE for judges too small or too expensive for an answer on two dozen criteria.

The judge sees the names of each dimension's criteria and gives each article one score per dimension. This is coarser than RACE,
and no published figure uses it.
"""

from collections.abc import Mapping, Sequence

from pydantic import Field

from app.domain.missing import Missing
from app.domain.race_rubric import Dimension
from workflows.agents.kit import Kit
from workflows.agents.steps import Answer, step
from workflows.judging.race_judge import MOST_POINTS, CriterionPoints
from workflows.judging.ruling import ruled


class PairAnswer(Answer):
    """Both articles' scores."""

    article_1: float = Field(default=-1.0, description="0 to 10")
    article_2: float = Field(default=-1.0, description="0 to 10")


class DimensionsAnswer(Answer):
    """One field for each dimension, so that the schema requires all of them."""

    analysis: str = Field(default="", description="what sets the two apart, in one short sentence")
    comprehensiveness: PairAnswer = PairAnswer()
    insight: PairAnswer = PairAnswer()
    instruction_following: PairAnswer = PairAnswer()
    readability: PairAnswer = PairAnswer()


RACE_DIMENSIONS = step("race_dimensions", DimensionsAnswer, max_tokens=300)


async def compared_by_dimension(
    kit: Kit, task: str, first: str, second: str, criteria: Mapping[Dimension, Sequence[str]]
) -> Mapping[Dimension, CriterionPoints] | Missing:
    """Return both articles' points for each dimension with criteria; missing if one is not scored or off the scale."""
    listed = "\n".join(f"{dimension}: {'; '.join(names)}" for dimension, names in criteria.items())

    def read(answer: DimensionsAnswer) -> Mapping[Dimension, CriterionPoints] | None:
        return _points(answer, criteria)

    return await ruled(kit, RACE_DIMENSIONS, read, task=task, first_article=first, second_article=second, criteria=listed)


def _points(answer: DimensionsAnswer, asked: Mapping[Dimension, Sequence[str]]) -> Mapping[Dimension, CriterionPoints] | None:
    said: dict[Dimension, PairAnswer] = {dimension: getattr(answer, dimension) for dimension in asked}
    points = {dimension: CriterionPoints(pair.article_1, pair.article_2) for dimension, pair in said.items()}
    in_range = all(0.0 <= score <= MOST_POINTS for pair in points.values() for score in pair)
    return points if in_range else None
