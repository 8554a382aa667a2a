"""The short answer that a report gives to a question (a name, a date, a number), and whether it is right (MindDR 5.2)."""

import asyncio
from collections.abc import Sequence

from pydantic import Field

from app.domain.missing import Missing
from workflows.agents.kit import Kit
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.citation_judge import YesNoAnswer, read_yes_or_no
from workflows.judging.judge_call import ask_judge

MOST_CHARS = 400


class ShortStepAnswer(StepAnswer):
    """The report's short answer."""

    main = "answer"

    answer: str = Field(default="", description="the answer in a few words; empty when the report settles on none")


SHORT = declare_step("short_answer", ShortStepAnswer, max_tokens=200)
RIGHT = declare_step("answer_right", YesNoAnswer, max_tokens=400)


async def extract_short_answer(kit: Kit, question: str, report: str) -> str | Missing:
    """Return the report's short answer, in its own words; empty if the report gives none."""
    return await ask_judge(kit, SHORT, lambda said: said.answer.strip()[:MOST_CHARS], question=question, report=report)


async def judge_answer(kits: Sequence[Kit], question: str, gold: str, answer: str) -> list[bool | Missing]:
    """Return the verdict of each judge on an answer. The paper has three; `training.rewards.votes.majority_of` decides."""
    asked = (ask_judge(kit, RIGHT, read_yes_or_no, question=question, gold=gold, answer=answer) for kit in kits)
    return list(await asyncio.gather(*asked))
