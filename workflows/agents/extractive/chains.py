"""Chains of evidence: a passage that answers part of a question names what the rest of it must be asked about.

"Who led the band that made X?" A passage on X covers the name X and mentions a band; a search for that band together with the
words not yet covered finds the second passage. A passage's score is how well it fits the question directly, or as the next
link of a chain.
"""

from dataclasses import dataclass

from workflows.agents.extractive.hits import Hit, joined_terms
from workflows.agents.extractive.names import bare_title, names
from workflows.agents.extractive.question import Question
from workflows.agents.extractive.words import words

RANK_SHARE, COVERAGE_SHARE, TITLE_BONUS = 0.45, 0.3, 0.55
LINK_SHARE, REST_SHARE, NEXT_RANK_SHARE = 0.5, 0.45, 0.3
DECAY = 1.05
MENTIONED = 0.6
OPEN_SHARE = 0.12
RANK_SCALE = 2
LONGEST_NAME = 6


@dataclass(frozen=True, slots=True)
class Bridge:
    """A name that leads on from a passage, and the query that follows it with the words the passage left uncovered."""

    name: str
    terms: str
    query: str


def direct_score(question: Question, hit: Hit, rank: int) -> float:
    """How well a passage fits the question itself: its rank for it (0 is first), the terms it shares, its title being asked
    about."""
    named = hit.title.strip() and hit.title in joined_terms(question.text)
    ranked = RANK_SHARE / (1 + rank / RANK_SCALE)
    return ranked + COVERAGE_SHARE * question.subject_share(hit.terms) + (TITLE_BONUS if named else 0.0)


def open_terms(question: Question, hit: Hit) -> dict[str, float]:
    """The question's terms a passage leaves uncovered, with their weights."""
    return {term: weight for term, weight in question.subject_weights.items() if term not in hit.terms}


def bridges(question: Question, hit: Hit, limit: int) -> list[Bridge]:
    """Where a passage leads on to: names in it that the question does not mention. None when it leaves next to nothing open."""
    left = open_terms(question, hit)
    if question.subject_share(hit.terms) > 1 - OPEN_SHARE:
        return []
    rest = " ".join(dict.fromkeys(word.text for word in words(question.text) if word.term in left))
    asked = joined_terms(question.text)
    found: dict[str, Bridge] = {}
    for name in [bare_title(hit.passage.source.title), *names(hit.passage.text)]:
        key = joined_terms(name)
        if key.strip() and key not in asked and key not in found and len(name.split()) <= LONGEST_NAME:
            found[key] = Bridge(name, key, f"{name} {rest}")
    return list(found.values())[:limit]


def chained_score(question: Question, parent: Hit, parent_score: float, bridge: Bridge, hit: Hit, rank: int) -> float:
    """How well a passage goes on from its parent: 0 when it does not speak of the name that led to it."""
    if hit.title == bridge.terms:
        link = 1.0
    elif hit.terms.issuperset(bridge.terms.split()):
        link = MENTIONED
    else:
        return 0.0
    left = open_terms(question, parent)
    rest = sum(weight for term, weight in left.items() if term in hit.terms) / (sum(left.values()) or 1.0)
    return DECAY * parent_score * (LINK_SHARE * link + REST_SHARE * rest + NEXT_RANK_SHARE / (1 + rank))
