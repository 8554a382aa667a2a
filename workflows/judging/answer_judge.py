"""Judging whether a short answer is right, by several judges (MindDR 5.2)."""

import asyncio
from collections.abc import Sequence

from app.domain.missing import Missing
from workflows.agents.kit import Kit
from workflows.agents.steps import step
from workflows.judging.citation_judge import YesNoAnswer, yes_or_no
from workflows.judging.ruling import ruled

RIGHT = step("answer_right", YesNoAnswer, max_tokens=400)


async def answer_right(kits: Sequence[Kit], question: str, gold: str, answer: str) -> list[bool | Missing]:
    """Return the verdict of each judge on an answer (the paper has three judges); `training.rewards.votes.majority` decides."""
    asked = (ruled(kit, RIGHT, yes_or_no, question=question, gold=gold, answer=answer) for kit in kits)
    return list(await asyncio.gather(*asked))
