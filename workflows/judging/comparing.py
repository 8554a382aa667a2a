"""Judges that compare: which of two answers is better (QSR C.11), and two articles criterion by criterion (RACE, MindDR 8.3)."""

import asyncio
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from pydantic import Field

from app.domain.missing import Missing
from workflows.agents.kit import Kit
from workflows.agents.steps import Answer, step
from workflows.judging.citation_judge import YesNoAnswer, yes_or_no
from workflows.judging.ruling import ruled

MOST_POINTS = 10.0
JUDGES = 3


class Preferred(StrEnum):
    """Which of two answers a judge prefers in both orders; a tie when its choice changes with the order."""

    FIRST = "first"
    SECOND = "second"
    TIE = "tie"


class PairwiseAnswer(Answer):
    """A choice, after what speaks for it."""

    analysis: str = Field(default="", description="strengths and weaknesses of both, in one or two sentences")
    better: str = Field(default="", description="A or B", json_schema_extra={"enum": ["A", "B"]})


class CriterionAnswer(Answer):
    """Both articles' scores for one criterion."""

    criterion: int = Field(default=0, description="number of the criterion")
    analysis: str = Field(default="", description="what either article does about it, in one sentence")
    article_1_score: float = Field(default=-1.0, description="0 to 10")
    article_2_score: float = Field(default=-1.0, description="0 to 10")


class RaceAnswer(Answer):
    """One entry a criterion."""

    scores: tuple[CriterionAnswer, ...] = ()


class CriterionPoints(NamedTuple):
    """What two articles got for one criterion, 0 to 10."""

    first: float
    second: float


PAIRWISE = step("pairwise", PairwiseAnswer, max_tokens=600)
RACE = step("race", RaceAnswer, max_tokens=6_000)
RIGHT = step("answer_right", YesNoAnswer, max_tokens=400)


async def preferred(kit: Kit, question: str, first: str, second: str) -> Preferred | Missing:
    """The better of two answers, asked in both orders at once."""
    one, other = await asyncio.gather(_better(kit, question, first, second), _better(kit, question, second, first))
    if isinstance(one, Missing):
        return one
    if isinstance(other, Missing):
        return other
    if one == other:
        return Preferred.TIE
    return Preferred.FIRST if one == "A" else Preferred.SECOND


async def compared(kit: Kit, task: str, first: str, second: str, criteria: Sequence[str]) -> Sequence[CriterionPoints] | Missing:
    """Both articles' points for each criterion, in their order; missing unless every one is scored exactly once, within range."""
    listed = "\n".join(f"{number}. {text}" for number, text in enumerate(criteria, 1))

    def read(answer: RaceAnswer) -> Sequence[CriterionPoints] | None:
        return _points(answer, len(criteria))

    return await ruled(kit, RACE, read, task=task, first_article=first, second_article=second, criteria=listed)


async def answer_right(kits: Sequence[Kit], question: str, gold: str, answer: str) -> list[bool | Missing]:
    """Whether an answer is right, by each of several judges; `training.rewards.votes.majority` decides."""
    asked = (ruled(kit, RIGHT, yes_or_no, question=question, gold=gold, answer=answer) for kit in kits)
    return list(await asyncio.gather(*asked))


async def _better(kit: Kit, question: str, a: str, b: str) -> str | Missing:
    def read(said: PairwiseAnswer) -> str | None:
        choice = said.better.strip().upper()
        return choice if choice in ("A", "B") else None

    return await ruled(kit, PAIRWISE, read, question=question, answer_a=a, answer_b=b)


def _points(answer: RaceAnswer, criteria: int) -> Sequence[CriterionPoints] | None:
    found: Mapping[int, CriterionAnswer] = {said.criterion: said for said in answer.scores}
    if len(answer.scores) != criteria or found.keys() != set(range(1, criteria + 1)):
        return None
    points = [CriterionPoints(found[n].article_1_score, found[n].article_2_score) for n in range(1, criteria + 1)]
    return points if all(0.0 <= score <= MOST_POINTS for pair in points for score in pair) else None
