"""Words of a question that the sources do not hold, read as those that they do: a slip of the pen finds what was meant."""

from app.domain.reading import Reading
from retrieval.language.stems import stem_word
from workflows.agents.extractive.gathering import Gathering
from workflows.agents.extractive.question import Question
from workflows.agents.extractive.words import is_light, words
from workflows.checks.grading import load_grader

SHORTEST = 5
MOST = 4


async def readings_of(question: Question, gathering: Gathering) -> tuple[Reading, ...]:
    """How the words of a question that nothing found so far holds are to be read; none where all words are held or near to none.

    A word of general English is what it is, also where the sources do not have it. `BudgetSpent` as in `Gathering.look`.
    """
    doubted = _doubted(question, gathering)
    if not doubted:
        return ()
    found = await gathering.respell(doubted)
    unknown = [word for word in doubted if found and all(word in each for each in found)]
    read = ((word, next((each[word] for each in found if each[word]), "")) for word in unknown)
    return tuple(Reading(written=word, read=other) for word, other in read if other)


def _doubted(question: Question, gathering: Gathering) -> list[str]:
    """The words, in lower case but for names, that no passage found holds and that are not known otherwise."""
    held = frozenset(term for hit in gathering.hits for term in hit.terms)
    doubted: dict[str, None] = {}
    for word in words(question.text):
        plain = len(word.text) >= SHORTEST and word.text.isascii() and word.text.isalpha() and not word.text.isupper()
        if plain and word.term and word.term not in held and not is_light(word.term) and not _is_english(word.text):
            begins = not question.text[: word.start].strip(" \"'“‘(")
            doubted[word.text.lower() if begins else word.text] = None
    return list(doubted)[:MOST]


def _is_english(word: str) -> bool:
    return stem_word(word.lower()) in load_grader().rarity.counts
