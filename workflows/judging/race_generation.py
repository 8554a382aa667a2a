"""RACE's rubric for a task, written by a model: the weights of the four dimensions and their criteria (MindDR section 4.6)."""

import asyncio

from pydantic import Field

from app.domain.missing import Missing
from app.domain.race_rubric import Dimension, RaceCriterion, RaceRubric
from workflows.agents.kit import Kit
from workflows.agents.steps import Answer, step
from workflows.judging.ruling import ruled

FEWEST, MOST = 2, 12
UNSAID = -1.0


class WeightsAnswer(Answer):
    """The weight of each dimension, after an analysis of the task."""

    analysis: str = Field(default="", description="what the task turns on, in one or two sentences")
    comprehensiveness: float = Field(default=UNSAID, description="0 to 1")
    insight: float = Field(default=UNSAID, description="0 to 1")
    instruction_following: float = Field(default=UNSAID, description="0 to 1")
    readability: float = Field(default=UNSAID, description="0 to 1")


class CriterionAnswer(Answer):
    """One criterion of a dimension. A bare string is its name."""

    main = "criterion"

    criterion: str = Field(default="", description="what is looked at, in a few words")
    explanation: str = Field(default="", description="what meets it and why it matters, in one or two sentences")
    weight: float = Field(default=UNSAID, description="above 0, together 1")


class CriteriaAnswer(Answer):
    """The criteria of one dimension. An answer with too few is asked for again, with the missing number."""

    analysis: str = Field(default="", description="what this dimension means for this task, in one or two sentences")
    criteria: tuple[CriterionAnswer, ...] = Field(min_length=FEWEST)


WEIGHTS = step("race_weights", WeightsAnswer, max_tokens=500)
CRITERIA = step("race_criteria", CriteriaAnswer, max_tokens=2_500)


async def race_rubric(kit: Kit, task: str) -> RaceRubric | Missing:
    """Write the rubric for a task with five requests at once; missing if one of them has no usable answer."""
    weights, criteria = await asyncio.gather(
        ruled(kit, WEIGHTS, _weights, task=task), asyncio.gather(*(_criteria_of(kit, task, dimension) for dimension in Dimension))
    )
    if isinstance(weights, Missing):
        return weights
    found: dict[Dimension, tuple[RaceCriterion, ...]] = {}
    for dimension, said in zip(Dimension, criteria, strict=True):
        if isinstance(said, Missing):
            return said
        found[dimension] = said
    return RaceRubric(weights=weights, criteria=found, model=kit.chat.name)


async def _criteria_of(kit: Kit, task: str, dimension: Dimension) -> tuple[RaceCriterion, ...] | Missing:
    return await ruled(kit, CRITERIA, _criteria, task=task, dimension=dimension.value)


def _weights(said: WeightsAnswer) -> dict[Dimension, float] | None:
    """Return the weights as shares of their sum; None if one is left out or below zero."""
    given = {dimension: float(getattr(said, dimension.value)) for dimension in Dimension}
    total = sum(given.values())
    if min(given.values()) < 0 or not 0 < total < float("inf"):
        return None
    return {dimension: weight / total for dimension, weight in given.items()}


def _criteria(said: CriteriaAnswer) -> tuple[RaceCriterion, ...] | None:
    """Return the usable criteria with their weights as shares; None if there are too few."""
    kept: dict[str, RaceCriterion] = {}
    for proposed in said.criteria[:MOST]:
        name = " ".join(proposed.criterion.split())
        if name and 0 < proposed.weight < float("inf"):
            explanation = " ".join(proposed.explanation.split())
            kept.setdefault(name.casefold(), RaceCriterion(criterion=name, explanation=explanation, weight=proposed.weight))
    total = sum(criterion.weight for criterion in kept.values())
    if len(kept) < FEWEST:
        return None
    return tuple(criterion.model_copy(update={"weight": criterion.weight / total}) for criterion in kept.values())
