"""Judges that give a number: one criterion (DeepRubric A.1), a whole answer (QSR C.12), a rubric (QSR C.3)."""

from typing import NamedTuple

from pydantic import Field

from app.domain.missing import Missing
from workflows.agents.kit import Kit
from workflows.agents.steps import Answer, step
from workflows.judging.ruling import ruled

MOST_MET = 4
LEAST_POINTS, MOST_POINTS = 1, 10
BEST_RUBRIC = 4.0
UNSAID = -1.0
"""The default of a number that the judge left out; it is outside every scale."""


class ScoreAnswer(Answer):
    """A score, after its reasons."""

    analysis: str = Field(default="", description="what speaks for and against, in one sentence")
    score: float = Field(default=UNSAID, description="the score")


class QualityAnswer(Answer):
    """The quality of a rubric."""

    reason: str = Field(default="", description="one or two sentences")
    reward: float = Field(default=UNSAID, description="0.00 to 4.00")
    confidence: float = Field(default=UNSAID, description="0 to 100")


class RubricQuality(NamedTuple):
    """The quality of a rubric: `reward` from 0 to 4, `confidence` from 0 to 1."""

    reward: float
    confidence: float
    reason: str


CRITERION = step("criterion_met", ScoreAnswer, max_tokens=400)
POINTWISE = step("pointwise", ScoreAnswer, max_tokens=400)
QUALITY = step("rubric_quality", QualityAnswer, max_tokens=500)


async def criterion_met(kit: Kit, question: str, answer: str, criterion: str) -> int | Missing:
    """Judge how far an answer meets a criterion, 0 to 4. `criterion` is its type, text and evidence as the judge sees them."""
    return await ruled(
        kit, CRITERION, lambda said: _whole(said, 0, MOST_MET), question=question, answer=answer, criterion=criterion
    )


async def pointwise_score(kit: Kit, question: str, answer: str) -> int | Missing:
    """Judge an answer with a score from 1 to 10."""
    return await ruled(kit, POINTWISE, lambda said: _whole(said, LEAST_POINTS, MOST_POINTS), question=question, answer=answer)


async def rubric_quality(kit: Kit, question: str, rubric: str) -> RubricQuality | Missing:
    """Judge a rubric's quality, with the judge's confidence and reason."""
    return await ruled(kit, QUALITY, _quality, question=question, rubric=rubric)


def _whole(said: ScoreAnswer, least: int, most: int) -> int | None:
    score = said.score
    return int(score) if score.is_integer() and least <= score <= most else None


def _quality(said: QualityAnswer) -> RubricQuality | None:
    if not 0.0 <= said.reward <= BEST_RUBRIC or not 0.0 <= said.confidence <= 100.0:
        return None
    return RubricQuality(said.reward, said.confidence / 100.0, said.reason)
