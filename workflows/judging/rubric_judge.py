"""Scoring an answer by a rubric, one item at a time: QSR rates from 1 to 10 (C.2), DeepRubric from 0 to 4 (A.1).

`item.py` does the same for a report of the product, with reasons and sentences for the reader. RACE compares two articles and has
its own judge (`race_judge.py`).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.evidence_rubric import EvidenceRubric
from app.domain.missing import Missing
from app.domain.rubric import Rubric
from app.domain.rubric_score import Aggregation, Scored, rubric_score
from app.domain.scorecard import HIGHEST, LOWEST, normalised
from workflows.agents.kit import Kit
from workflows.judging.item import RATING, RatingAnswer
from workflows.judging.ruling import ruled
from workflows.judging.score_judges import MOST_MET, criterion_met


@dataclass(frozen=True, slots=True)
class Judged:
    """The scores of the items from 0 to 1 in the rubric's order, with their weights."""

    weights: tuple[float, ...]
    scores: tuple[float | Missing, ...]

    def score(self, by: Aggregation = Aggregation.BOUNDED) -> float | Missing:
        """Return one number; if an item is missing, the result is missing too, with all reasons."""
        reasons = [score.reason for score in self.scores if isinstance(score, Missing)]
        if reasons:
            return Missing("; ".join(dict.fromkeys(reasons)))
        pairs = zip(self.weights, self.scores, strict=True)
        return rubric_score([Scored(weight, score) for weight, score in pairs if not isinstance(score, Missing)], by)


async def judged(kit: Kit, question: str, answer: str, rubric: Rubric | EvidenceRubric) -> Judged:
    """Score every item. All are asked at once; the record limits how many calls are under way."""
    scores: Sequence[float | Missing]
    if isinstance(rubric, Rubric):
        scores = await asyncio.gather(*(conformity(kit, question, answer, item.demand) for item in rubric.criteria))
    else:
        scores = await asyncio.gather(*(_met(kit, question, answer, item.shown) for item in rubric.criteria))
    return Judged(tuple(float(item.weight) for item in rubric.criteria), tuple(scores))


async def conformity(kit: Kit, question: str, report: str, description: str) -> float | Missing:
    """Judge how far a report matches a description, as (rating - 1) / 9. Whether a match is good is not the judge's question."""
    return await ruled(kit, RATING, _rating, question=question, report=report, criterion=description)


async def _met(kit: Kit, question: str, answer: str, criterion: str) -> float | Missing:
    met = await criterion_met(kit, question, answer, criterion)
    return met if isinstance(met, Missing) else met / MOST_MET


def _rating(said: RatingAnswer) -> float | None:
    return normalised(said.rating) if LOWEST <= said.rating <= HIGHEST else None
