"""Scoring an answer by a rubric, one item at a time: QSR rates from 1 to 10 (C.2), DeepRubric from 0 to 4 (A.1).

`criterion_judge.py` judges a report of the product by all criteria in one call, with reasons for the reader. RACE compares two
articles and has its own judge (`race_judge.py`).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from app.domain.evidence_rubric import EvidenceRubric
from app.domain.missing import Missing
from app.domain.rubric import Rubric
from app.domain.rubric_score import Aggregation, ScoredItem, rubric_score
from app.domain.scorecard import HIGHEST, LOWEST, normalise_rating
from workflows.agents.kit import Kit
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge
from workflows.judging.score_judges import MOST_MET, judge_criterion


class RatingAnswer(StepAnswer):
    """The judgement of one criterion."""

    reason: str = Field(default="", description="what in the report decides it, in one sentence")
    sentences: tuple[str, ...] = Field(
        default=(), description="up to three sentences of the report, copied exactly, that it rests on"
    )
    rating: int = Field(default=0, description="1 to 10: how far the report matches the description")


RATING = declare_step("criterion", RatingAnswer, max_tokens=1_200)


@dataclass(frozen=True, slots=True)
class RubricScores:
    """The scores of the items from 0 to 1 in the rubric's order, with their weights."""

    weights: tuple[float, ...]
    scores: tuple[float | Missing, ...]

    def total(self, by: Aggregation = Aggregation.BOUNDED) -> float | Missing:
        """Return one number; if an item is missing, the result is missing too, with all reasons."""
        reasons = [score.reason for score in self.scores if isinstance(score, Missing)]
        if reasons:
            return Missing("; ".join(dict.fromkeys(reasons)))
        pairs = zip(self.weights, self.scores, strict=True)
        return rubric_score([ScoredItem(weight, score) for weight, score in pairs if not isinstance(score, Missing)], by)


async def score_answer(kit: Kit, question: str, answer: str, rubric: Rubric | EvidenceRubric) -> RubricScores:
    """Score every item. All are asked at once; the record limits how many calls are under way."""
    scores: Sequence[float | Missing]
    if isinstance(rubric, Rubric):
        scores = await asyncio.gather(*(judge_conformity(kit, question, answer, item.demand) for item in rubric.criteria))
    else:
        scores = await asyncio.gather(*(_judge_evidence_criterion(kit, question, answer, item.shown) for item in rubric.criteria))
    return RubricScores(tuple(float(item.weight) for item in rubric.criteria), tuple(scores))


async def judge_conformity(kit: Kit, question: str, report: str, description: str) -> float | Missing:
    """Judge how far a report matches a description, as (rating - 1) / 9. Whether a match is good is not the judge's question."""
    return await ask_judge(kit, RATING, _read_rating, question=question, report=report, criterion=description)


async def _judge_evidence_criterion(kit: Kit, question: str, answer: str, criterion: str) -> float | Missing:
    met = await judge_criterion(kit, question, answer, criterion)
    return met if isinstance(met, Missing) else met / MOST_MET


def _read_rating(said: RatingAnswer) -> float | None:
    return normalise_rating(said.rating) if LOWEST <= said.rating <= HIGHEST else None
