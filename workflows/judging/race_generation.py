"""RACE's rubric for a task, written by a model: the weights of the four dimensions and their criteria (MindDR section 4.6)."""

import asyncio

from pydantic import Field

from app.domain.missing import Missing
from app.domain.race_rubric import RaceCriterion, RaceDimension, RaceRubric
from workflows.agents.kit import Kit
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge

FEWEST, MOST = 2, 12
LEFT_OUT = -1.0


class RaceWeightsAnswer(StepAnswer):
    """The weight of each dimension, after an analysis of the task."""

    analysis: str = Field(default="", description="what the task turns on, in one or two sentences")
    comprehensiveness: float = Field(default=LEFT_OUT, description="0 to 1")
    insight: float = Field(default=LEFT_OUT, description="0 to 1")
    instruction_following: float = Field(default=LEFT_OUT, description="0 to 1")
    readability: float = Field(default=LEFT_OUT, description="0 to 1")


class RaceCriterionAnswer(StepAnswer):
    """One criterion of a dimension. A bare string is its name."""

    main = "criterion"

    criterion: str = Field(default="", description="what is looked at, in a few words")
    explanation: str = Field(default="", description="what meets it and why it matters, in one or two sentences")
    weight: float = Field(default=LEFT_OUT, description="above 0, together 1")


class RaceCriteriaAnswer(StepAnswer):
    """The criteria of one dimension. An answer with too few is asked for again, with the missing number."""

    analysis: str = Field(default="", description="what this dimension means for this task, in one or two sentences")
    criteria: tuple[RaceCriterionAnswer, ...] = Field(min_length=FEWEST)


WEIGHTS = declare_step("race_weights", RaceWeightsAnswer, max_tokens=500)
CRITERIA = declare_step("race_criteria", RaceCriteriaAnswer, max_tokens=2_500)


async def write_race_rubric(kit: Kit, task: str) -> RaceRubric | Missing:
    """Write the rubric for a task with five requests at once; missing if one of them has no usable answer."""
    weights, criteria = await asyncio.gather(
        ask_judge(kit, WEIGHTS, _read_weights, task=task),
        asyncio.gather(*(_ask_criteria(kit, task, dimension) for dimension in RaceDimension)),
    )
    if isinstance(weights, Missing):
        return weights
    found: dict[RaceDimension, tuple[RaceCriterion, ...]] = {}
    for dimension, said in zip(RaceDimension, criteria, strict=True):
        if isinstance(said, Missing):
            return said
        found[dimension] = said
    return RaceRubric(weights=weights, criteria=found, model=kit.chat.name)


async def _ask_criteria(kit: Kit, task: str, dimension: RaceDimension) -> tuple[RaceCriterion, ...] | Missing:
    return await ask_judge(kit, CRITERIA, _read_criteria, task=task, dimension=dimension.value)


def _read_weights(said: RaceWeightsAnswer) -> dict[RaceDimension, float] | None:
    """Return the weights as shares of their sum; None if one is left out or below zero."""
    given = {dimension: float(getattr(said, dimension.value)) for dimension in RaceDimension}
    total = sum(given.values())
    if min(given.values()) < 0 or not 0 < total < float("inf"):
        return None
    return {dimension: weight / total for dimension, weight in given.items()}


def _read_criteria(said: RaceCriteriaAnswer) -> tuple[RaceCriterion, ...] | None:
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
