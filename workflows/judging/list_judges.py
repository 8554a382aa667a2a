"""Judges of a list in one call: points that an answer covers, demands that a report meets, paragraphs off the topic.

Every entry must get exactly one verdict, else there is no result. Long lists are asked in pieces.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from typing import TypeVar

from pydantic import Field

from app.domain.missing import Missing
from workflows.agents.kit import Kit
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge

T = TypeVar("T")
POINTS_AT_ONCE = 8
"""ResearchQA's own number."""
DEMANDS_AT_ONCE = 25
LEAST_LEVEL, MOST_LEVEL = 1, 5


class DemandVerdict(StrEnum):
    """A report's verdict on a demand; `excluded`: the report meets it only with the source that must not be used."""

    MET = "met"
    ABSENT = "absent"
    EXCLUDED = "excluded"


class LevelAnswer(StepAnswer):
    """The level at which one point is covered."""

    point: int = Field(default=0, description="number of the point")
    level: int = Field(default=0, description="1 to 5")


class CoverageAnswer(StepAnswer):
    """One level for each point."""

    levels: tuple[LevelAnswer, ...] = ()


class DemandAnswer(StepAnswer):
    """The verdict on one demand."""

    demand: int = Field(default=0, description="number of the demand")
    evidence: str = Field(default="", description="the report's words that decide it; empty when absent")
    verdict: str = Field(default="", description="met, absent or excluded", json_schema_extra={"enum": [*DemandVerdict]})


class ChecklistAnswer(StepAnswer):
    """One verdict for each demand."""

    verdicts: tuple[DemandAnswer, ...] = ()


class ParagraphsAnswer(StepAnswer):
    """Numbers of paragraphs."""

    paragraphs: tuple[int, ...] = Field(default=(), description="numbers of the paragraphs that do not help")


COVERAGE = declare_step("coverage", CoverageAnswer, max_tokens=800)
CHECKLIST = declare_step("checklist", ChecklistAnswer, max_tokens=4_000)
OFF_TOPIC = declare_step("off_topic", ParagraphsAnswer, max_tokens=400)


async def judge_coverage(kit: Kit, answer: str, points: Sequence[str]) -> list[float] | Missing:
    """Judge how far an answer covers each point, as (level - 1) / 4 (ResearchQA)."""

    async def ask(piece: Sequence[str]) -> list[float] | Missing:
        def read(said: CoverageAnswer) -> list[float] | None:
            found = {entry.point: entry.level for entry in said.levels}
            levels = _list_in_order(found, len(said.levels), len(piece))
            return [(v - LEAST_LEVEL) / (MOST_LEVEL - LEAST_LEVEL) for v in levels] if levels and _are_on_scale(levels) else None

        return await ask_judge(kit, COVERAGE, read, answer=answer, points=number_texts(piece))

    return await _ask_in_pieces(points, POINTS_AT_ONCE, ask)


async def judge_demands(kit: Kit, task: str, report: str, demands: Sequence[str], excluded: str) -> list[DemandVerdict] | Missing:
    """Judge each demand on a report; `excluded` describes the source it must not use (DeepResearch Bench II)."""

    async def ask(piece: Sequence[str]) -> list[DemandVerdict] | Missing:
        def read(said: ChecklistAnswer) -> list[DemandVerdict] | None:
            found = {entry.demand: entry.verdict.strip().lower() for entry in said.verdicts}
            verdicts = _list_in_order(found, len(said.verdicts), len(piece))
            return [DemandVerdict(v) for v in verdicts] if verdicts and all(v in [*DemandVerdict] for v in verdicts) else None

        shown = {"task": task, "report": report, "demands": number_texts(piece), "excluded": excluded or "-"}
        return await ask_judge(kit, CHECKLIST, read, **shown)

    return await _ask_in_pieces(demands, DEMANDS_AT_ONCE, ask)


async def judge_helpfulness(kit: Kit, question: str, paragraphs: Sequence[str]) -> list[bool] | Missing:
    """Judge whether each paragraph helps to answer the question."""

    def read(said: ParagraphsAnswer) -> list[bool] | None:
        numbers = set(said.paragraphs)
        return (
            [n not in numbers for n in range(1, len(paragraphs) + 1)] if numbers <= set(range(1, len(paragraphs) + 1)) else None
        )

    return await ask_judge(kit, OFF_TOPIC, read, question=question, paragraphs=number_texts(paragraphs, "\n\n"))


def number_texts(texts: Sequence[str], between: str = "\n") -> str:
    """Join the texts, with numbers from 1."""
    return between.join(f"{number}. {text}" for number, text in enumerate(texts, 1))


def _list_in_order(found: dict[int, T], said: int, wanted: int) -> list[T] | None:
    """Return the values in the order of their numbers from 1; None unless every number was given exactly once."""
    complete = said == wanted and found.keys() == set(range(1, wanted + 1))
    return [found[number] for number in range(1, wanted + 1)] if complete else None


def _are_on_scale(levels: Sequence[int]) -> bool:
    return all(LEAST_LEVEL <= level <= MOST_LEVEL for level in levels)


async def _ask_in_pieces(
    entries: Sequence[str], size: int, ask: Callable[[Sequence[str]], Awaitable[list[T] | Missing]]
) -> list[T] | Missing:
    pieces = [entries[at : at + size] for at in range(0, len(entries), size)]
    whole: list[T] = []
    for found in await asyncio.gather(*(ask(piece) for piece in pieces)):
        if isinstance(found, Missing):
            return found
        whole.extend(found)
    return whole
