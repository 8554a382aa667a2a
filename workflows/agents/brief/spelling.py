"""Words of a question that neither general English nor the sources hold, read as those that the sources do hold."""

import re
from collections.abc import Sequence

from app.domain.reading import Reading
from retrieval.language.stems import stem_word
from workflows.agents.brief.searches import Searches
from workflows.checks.grading import load_grader

SHORTEST = 5
_WORD = re.compile(r"[^\W\d_]+", re.ASCII)


async def find_readings(question: str, searches: Searches) -> tuple[Reading, ...]:
    """Return how the unknown words of a question are to be read. Raises `BudgetSpent` as the searches do."""
    known = load_grader().rarity.counts
    words = dict.fromkeys(word for word in _WORD.findall(question) if len(word) >= SHORTEST and not word.isupper())
    doubted = [word for word in words if (stem := stem_word(word.lower())) and stem not in known]
    return tuple(await searches.read_words(doubted))


def apply_readings(question: str, readings: Sequence[Reading]) -> str:
    """Return a question with its words as they are read."""
    for reading in readings:
        question = re.sub(rf"\b{re.escape(reading.written)}\b", lambda _, read=reading.read: read, question)  # type: ignore[misc]
    return question
