"""Who applies a rubric to a report, and rates it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Protocol, TypeAlias

from app.domain.missing import Missing
from app.domain.query import Language
from app.domain.rubric import Rubric
from training.recipes.judge_section import JudgeSection, open_judges
from training.recipes.rubric_generator.rule_judge import RuleJudge
from training.rewards.score import Score
from workflows.agents.kit import Kit
from workflows.judging.rubric_judge import RubricScores, score_answer
from workflows.judging.score_judges import judge_rubric


class RubricJudge(Protocol):
    """Rates reports by the items of a rubric, and rubrics."""

    async def score(self, question: str, report: str, rubric: Rubric) -> RubricScores:
        """Return how far a report matches each item, from 0 to 1."""
        ...

    async def rate(self, question: str, rubric: Rubric) -> Score:
        """Return the quality of a rubric, from 0 to 4."""
        ...


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A model as judge (QSR C.2, C.3)."""

    kit: Kit

    async def score(self, question: str, report: str, rubric: Rubric) -> RubricScores:
        """Ask for each item of the rubric."""
        return await score_answer(self.kit, question, report, rubric)

    async def rate(self, question: str, rubric: Rubric) -> Score:
        """Ask once."""
        shown = "\n".join(f"- {item.title}: {item.description} ({item.weight})" for item in rubric.criteria)
        said = await judge_rubric(self.kit, question, shown)
        return said if isinstance(said, Missing) else said.reward


OpenJudge: TypeAlias = Callable[[Language], RubricJudge]
"""Makes the judge that asks in a language."""


@asynccontextmanager
async def open_judge(section: JudgeSection | None, folder: Path, today: date) -> AsyncIterator[OpenJudge]:
    """Open the judge; without a section the rules of planted preferences judge."""
    if section is None:
        yield lambda _: RuleJudge()
        return
    async with open_judges([section], folder, today) as open_kits:
        yield lambda language: ModelJudge(open_kits(language)[0])
