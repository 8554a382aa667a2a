"""The exam of rubric generators asks as the product does."""

import asyncio
from datetime import date

import pytest

from app.domain.query import Language
from training.loop.exams.config import RubricExamConfig
from workflows.chat_models.scripted import ScriptedModel


@pytest.mark.extra("trl")
async def test_both_are_told_the_titles_of_the_plan() -> None:
    from training.loop.exams.rubrics import RubricExam
    from training.recipes.rubric_generator.data import PairLine, ReportLine
    from training.recipes.rubric_generator.rule_judge import RuleJudge

    holder, candidate = ScriptedModel(lambda _: "no rubric"), ScriptedModel(lambda _: "no rubric")
    row = PairLine(
        id="pair-1",
        query="Why were tariffs raised?",
        language=Language.ENGLISH,
        accepted=ReportLine(text="They paid."),
        rejected=ReportLine(text="Nobody knows."),
        parts=("Revenue", "Protection"),
    )
    exam = RubricExam(RubricExamConfig(), lambda _: RuleJudge(), date(2026, 1, 1), asyncio.Semaphore(2))
    await exam.compare(0, row, holder, candidate)
    for request in (holder.requests[0], candidate.requests[0]):
        assert all(title in request.messages[1].content for title in row.parts)
