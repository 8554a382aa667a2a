"""Judges that give a number: one criterion (DeepRubric A.1), a whole answer (QSR C.12), a rubric (QSR C.3)."""

from typing import NamedTuple

from pydantic import Field

from app.domain.missing import Missing
from workflows.agents.kit import Kit
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge

MOST_MET = 4
LEAST_POINTS, MOST_POINTS = 1, 10
BEST_RUBRIC = 4.0
LEFT_OUT = -1.0
"""The default of a number that the judge left out; it is outside every scale."""


class ScoreAnswer(StepAnswer):
    """A score, after its reasons."""

    analysis: str = Field(default="", description="what speaks for and against, in one sentence")
    score: float = Field(default=LEFT_OUT, description="the score")


class QualityAnswer(StepAnswer):
    """The quality of a rubric."""

    reason: str = Field(default="", description="one or two sentences")
    reward: float = Field(default=LEFT_OUT, description="0.00 to 4.00")
    confidence: float = Field(default=LEFT_OUT, description="0 to 100")


class RubricQuality(NamedTuple):
    """The quality of a rubric: `reward` from 0 to 4, `confidence` from 0 to 1."""

    reward: float
    confidence: float
    reason: str


CRITERION = declare_step("criterion_met", ScoreAnswer, max_tokens=400)
POINTWISE = declare_step("pointwise", ScoreAnswer, max_tokens=400)
QUALITY = declare_step("rubric_quality", QualityAnswer, max_tokens=500)


async def judge_criterion(kit: Kit, question: str, answer: str, criterion: str) -> int | Missing:
    """Judge how far an answer meets a criterion, 0 to 4. `criterion` is its type, text and evidence as the judge sees them."""
    return await ask_judge(
        kit, CRITERION, lambda said: _read_whole_score(said, 0, MOST_MET), question=question, answer=answer, criterion=criterion
    )


async def judge_pointwise(kit: Kit, question: str, answer: str) -> int | Missing:
    """Judge an answer with a score from 1 to 10."""
    return await ask_judge(
        kit, POINTWISE, lambda said: _read_whole_score(said, LEAST_POINTS, MOST_POINTS), question=question, answer=answer
    )


async def judge_rubric(kit: Kit, question: str, rubric: str) -> RubricQuality | Missing:
    """Judge a rubric's quality, with the judge's confidence and reason."""
    return await ask_judge(kit, QUALITY, _read_quality, question=question, rubric=rubric)


def _read_whole_score(said: ScoreAnswer, least: int, most: int) -> int | None:
    score = said.score
    return int(score) if score.is_integer() and least <= score <= most else None


def _read_quality(said: QualityAnswer) -> RubricQuality | None:
    if not 0.0 <= said.reward <= BEST_RUBRIC or not 0.0 <= said.confidence <= 100.0:
        return None
    return RubricQuality(said.reward, said.confidence / 100.0, said.reason)
