"""The planning agent without a model: one subtask for each part that the question clearly has, usually one.

A question is taken as a whole unless it clearly asks several things, as question marks or a numbered list.

Words that neither general English nor the sources hold are read as those that the sources do hold.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.reading import Reading
from app.domain.script import IDEOGRAPHS
from retrieval.language.dictionary import is_word
from retrieval.language.sentences import list_sentences
from retrieval.language.stems import stem_word
from retrieval.language.tokens import list_stems
from workflows.agents.brief.searches import Searches
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent
from workflows.agents.simple_plan import QUESTION_CHARS, shorten_title
from workflows.agents.stage_memory import PLANNER
from workflows.checks.rarity import load_rarity

SHORTEST_DOUBTED = 5
_WORD = re.compile(rf"[^\W\d_{IDEOGRAPHS}]+")
FEWEST_STEMS = 2
"""A shorter part ("And why?") is no question of its own."""
_ITEM = re.compile(r"^\s*(?:\(?\d{1,2}[.)、]|[-*•])\s*(?=\S)", re.MULTILINE)
_ASKS = re.compile(r"[?？][\"'”’)\]]*\s*$")


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
    known = load_rarity().counts
    words = [word for word in dict.fromkeys(_WORD.findall(question)) if _may_be_misspelt(word)]
    doubted = [word for word in words if (stem := stem_word(word.lower())) and stem not in known and not is_word(word)]
    try:
        return tuple(await Searches(PLANNER, kit).read_words(doubted))
    except BudgetSpent:
        return ()  # the plan needs no search, and the run stops at its next stage by itself


def _may_be_misspelt(word: str) -> bool:
    """Say whether a word can be corrected: it is long enough, no abbreviation, and in the letters of English."""
    return len(word) >= SHORTEST_DOUBTED and word.isascii() and not word.isupper()


def apply_readings(question: str, readings: Sequence[Reading]) -> str:
    """Return a question with its words as they are read."""
    for reading in readings:
        question = re.sub(rf"\b{re.escape(reading.written)}\b", lambda _, read=reading.read: read, question)  # type: ignore[misc]
    return question


def split_parts(question: str, most: int) -> tuple[str, ...]:
    """Return the parts of a question in order; one that asks one thing, or more than `most`, is its only part."""
    parts = _split_list(question) or _split_questions(question)
    return parts if 2 <= len(parts) <= most else (question,)


def _split_list(question: str) -> tuple[str, ...]:
    """Return the items of a list, each with what stands before the list."""
    marks = list(_ITEM.finditer(question))
    edges = [*(mark.start() for mark in marks), len(question)]
    items = [question[mark.end() : end].strip() for mark, (_, end) in zip(marks, pairwise(edges), strict=True)]
    lead = " ".join(question[: edges[0]].split())
    return tuple(f"{lead} {item}".strip() for item in items) if all(map(_stands_alone, items)) else ()


def _split_questions(question: str) -> tuple[str, ...]:
    """Return the sentences that ask, each after the first with the first, since it may speak of "it"."""
    asked = [s.strip() for s in list_sentences(question) if _ASKS.search(s) and _stands_alone(s)]
    return tuple(each if each is asked[0] else f"{asked[0]} {each}" for each in asked)


def _stands_alone(text: str) -> bool:
    return len(list_stems(text)) >= FEWEST_STEMS
