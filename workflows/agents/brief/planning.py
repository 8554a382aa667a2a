"""The planning agent without a model: one subtask for each part that the question clearly has, usually one.

Words that neither general English nor the sources hold are read as those that the sources do hold.
"""

import re
from collections.abc import Sequence

from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.reading import Reading
from retrieval.language.stems import stem_word
from workflows.agents.brief.parts import split_parts
from workflows.agents.brief.searches import Searches
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent
from workflows.agents.simple_plan import QUESTION_CHARS, shorten_title
from workflows.agents.stage_memory import PLANNER
from workflows.checks.grading import load_grader

SHORTEST_DOUBTED = 5
_WORD = re.compile(r"[^\W\d_]+", re.ASCII)


async def make_plan(query: ResearchQuery, kit: Kit) -> ResearchPlan:
    """Return a plan with the parts of the question, and with the words that are read otherwise than they were written."""
    readings = await _find_readings(query.question, kit)
    question = apply_readings(query.full_question, readings)
    parts = split_parts(question, kit.bounds.subtasks)
    subtasks = tuple(
        Subtask(id=f"s{number}", title=shorten_title(part), question=part[:QUESTION_CHARS])
        for number, part in enumerate(parts, start=1)
    )
    return ResearchPlan(title=shorten_title(query.question), subtasks=subtasks, readings=readings)


async def _find_readings(question: str, kit: Kit) -> tuple[Reading, ...]:
    """Return how the unknown words of a question are to be read."""
    known = load_grader().rarity.counts
    words = dict.fromkeys(word for word in _WORD.findall(question) if len(word) >= SHORTEST_DOUBTED and not word.isupper())
    doubted = [word for word in words if (stem := stem_word(word.lower())) and stem not in known]
    try:
        return tuple(await Searches(PLANNER, kit).read_words(doubted))
    except BudgetSpent:
        return ()  # the plan needs no search, and the run stops at its next stage by itself


def apply_readings(question: str, readings: Sequence[Reading]) -> str:
    """Return a question with its words as they are read."""
    for reading in readings:
        question = re.sub(rf"\b{re.escape(reading.written)}\b", lambda _, read=reading.read: read, question)  # type: ignore[misc]
    return question
