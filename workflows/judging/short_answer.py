"""The short answer that a report gives to a question: a name, a date, a number. It is empty if the report gives none."""

from pydantic import Field

from app.domain.missing import Missing
from workflows.agents.kit import Kit
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge

MOST_CHARS = 400


class ShortStepAnswer(StepAnswer):
    """The report's short answer."""

    main = "answer"

    answer: str = Field(default="", description="the answer in a few words; empty when the report settles on none")


SHORT = declare_step("short_answer", ShortStepAnswer, max_tokens=200)


async def extract_short_answer(kit: Kit, question: str, report: str) -> str | Missing:
    """Return the report's short answer, in its own words."""
    return await ask_judge(kit, SHORT, lambda said: said.answer.strip()[:MOST_CHARS], question=question, report=report)
