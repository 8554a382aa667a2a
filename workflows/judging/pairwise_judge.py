"""Judging which of two answers is better (QSR C.11), in both orders."""

import asyncio
from enum import StrEnum
from typing import NamedTuple

from pydantic import Field

from app.domain.missing import Missing
from workflows.agents.kit import Kit
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge


class Preference(StrEnum):
    """The answer that a judge prefers in both orders; a tie when its choice changes with the order."""

    FIRST = "first"
    SECOND = "second"
    TIE = "tie"


class PairwiseAnswer(StepAnswer):
    """A choice, after its reasons."""

    analysis: str = Field(default="", description="strengths and weaknesses of both, in one or two sentences")
    better: str = Field(default="", description="A or B", json_schema_extra={"enum": ["A", "B"]})


PAIRWISE = declare_step("pairwise", PairwiseAnswer, max_tokens=600)


class BothOrders(NamedTuple):
    """A judge's choices, A or B by the place shown: with the first answer as A, and with the second as A."""

    straight: str
    swapped: str

    @property
    def preference(self) -> Preference:
        """The answer chosen in both orders."""
        if self.straight == self.swapped:
            return Preference.TIE
        return Preference.FIRST if self.straight == "A" else Preference.SECOND


async def judge_pair(kit: Kit, question: str, first: str, second: str) -> Preference | Missing:
    """Judge which of two answers is better."""
    chosen = await choose_in_both_orders(kit, question, first, second)
    return chosen if isinstance(chosen, Missing) else chosen.preference


async def choose_in_both_orders(kit: Kit, question: str, first: str, second: str) -> BothOrders | Missing:
    """Have a judge choose the better of two answers; both orders are asked at once."""
    one, other = await asyncio.gather(_choose_better(kit, question, first, second), _choose_better(kit, question, second, first))
    if isinstance(one, Missing):
        return one
    return other if isinstance(other, Missing) else BothOrders(one, other)


async def _choose_better(kit: Kit, question: str, a: str, b: str) -> str | Missing:
    def read(said: PairwiseAnswer) -> str | None:
        choice = said.better.strip().upper()
        return choice if choice in ("A", "B") else None

    return await ask_judge(kit, PAIRWISE, read, question=question, answer_a=a, answer_b=b)
