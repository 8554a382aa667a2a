"""Comparing two articles on one task, criterion by criterion (RACE; MindDR 8.3)."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import Field

from app.domain.missing import Missing
from workflows.agents.kit import Kit
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge

MOST_POINTS = 10.0


class RaceScoreAnswer(StepAnswer):
    """Both articles' scores for one criterion."""

    criterion: int = Field(default=0, description="number of the criterion")
    analysis: str = Field(default="", description="what either article does about it, in one sentence")
    article_1_score: float = Field(default=-1.0, description="0 to 10")
    article_2_score: float = Field(default=-1.0, description="0 to 10")


class RaceAnswer(StepAnswer):
    """One entry for each criterion."""

    scores: tuple[RaceScoreAnswer, ...] = ()


class CriterionPoints(NamedTuple):
    """The points of two articles for one criterion, 0 to 10."""

    first: float
    second: float


RACE = declare_step("race", RaceAnswer, max_tokens=6_000)


async def compare_articles(
    kit: Kit, task: str, first: str, second: str, criteria: Sequence[str]
) -> Sequence[CriterionPoints] | Missing:
    """Return both articles' points for each criterion, in order; missing unless each is scored exactly once, within range."""
    found = await compare_in_part(kit, task, first, second, criteria)
    if isinstance(found, Missing):
        return found
    whole = [points for points in found if points is not None]
    return whole if len(whole) == len(criteria) else Missing("race: the judge's answer cannot be used")


async def compare_in_part(
    kit: Kit, task: str, first: str, second: str, criteria: Sequence[str]
) -> Sequence[CriterionPoints | None] | Missing:
    """Return the same with None for an unscored criterion; missing if one is scored twice or off the scale, or none is scored."""
    listed = "\n".join(f"{number}. {text}" for number, text in enumerate(criteria, 1))

    def read(answer: RaceAnswer) -> Sequence[CriterionPoints | None] | None:
        return _read_points(answer, len(criteria))

    return await ask_judge(kit, RACE, read, task=task, first_article=first, second_article=second, criteria=listed)


def _read_points(answer: RaceAnswer, criteria: int) -> Sequence[CriterionPoints | None] | None:
    found = {said.criterion: CriterionPoints(said.article_1_score, said.article_2_score) for said in answer.scores}
    if not found or len(found) != len(answer.scores) or not found.keys() <= set(range(1, criteria + 1)):
        return None
    in_range = all(0.0 <= score <= MOST_POINTS for pair in found.values() for score in pair)
    return [found.get(number) for number in range(1, criteria + 1)] if in_range else None
