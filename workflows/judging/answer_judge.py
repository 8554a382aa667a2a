"""Judging whether a short answer is right, by several judges (MindDR 5.2)."""

import asyncio
from collections.abc import Sequence

from app.domain.missing import Missing
from workflows.agents.kit import Kit
from workflows.agents.steps import declare_step
from workflows.judging.citation_judge import YesNoAnswer, read_yes_or_no
from workflows.judging.judge_call import ask_judge

RIGHT = declare_step("answer_right", YesNoAnswer, max_tokens=400)


async def judge_answer(kits: Sequence[Kit], question: str, gold: str, answer: str) -> list[bool | Missing]:
    """Return the verdict of each judge on an answer. The paper has three; `training.rewards.votes.majority_of` decides."""
    asked = (ask_judge(kit, RIGHT, read_yes_or_no, question=question, gold=gold, answer=answer) for kit in kits)
    return list(await asyncio.gather(*asked))
