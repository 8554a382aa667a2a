"""Chains of evidence: a passage that answers part of a question names what the rest of it must be asked about.

"Who led the band that made X?" A passage on X covers the name X and mentions a band; a search for that band together with the
words not yet covered finds the second passage. A passage's score is how well it fits the question directly, or as the next
link of a chain.
"""

from dataclasses import dataclass

from workflows.agents.extractive.entities import Entities
from workflows.agents.extractive.hits import Hit, joined_terms
from workflows.agents.extractive.names import bare_title, head_of, holds_name, names
from workflows.agents.extractive.question import Question
from workflows.agents.extractive.words import is_light, words

RANK_SHARE, COVERAGE_SHARE, TITLE_BONUS = 0.45, 0.3, 0.55
LINK_SHARE, REST_SHARE, NEXT_RANK_SHARE = 0.5, 0.45, 0.3
NAMESAKE, UNNAMED = 0.5, 0.6
DECAY = 1.05
IN_TITLE, MENTIONED = 0.8, 0.5
OPEN_SHARE = 0.12
RANK_SCALE = 2
LONGEST_NAME = 6


@dataclass(frozen=True, slots=True)
class Bridge:
    """A name that leads on from a passage, and the query that follows it with the words the passage left uncovered."""

    name: str
    terms: str
    query: str


def direct_score(question: Question, entities: Entities, hit: Hit, rank: int) -> float:
    """How well a passage fits the question itself: its rank for it (0 is first), the terms it shares, its title being asked
    about."""
    score = RANK_SHARE / (1 + rank / RANK_SCALE) + COVERAGE_SHARE * question.subject_share(hit.terms)
    if entities.named(hit):
        return score + TITLE_BONUS
    return score * (NAMESAKE if entities.namesake(hit) else 1.0) * (1.0 if entities.mentioned(hit) else UNNAMED)


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
        leads = not all(is_light(term) for term in key.split())
        if leads and key not in asked and key not in found and len(name.split()) <= LONGEST_NAME:
            found[key] = Bridge(name, key, f"{name} {rest}")
    return list(found.values())[:limit]


def chained_score(question: Question, parent: Hit, parent_score: float, bridge: Bridge, hit: Hit, rank: int) -> float:
    """How well a passage goes on from its parent: 0 when it does not speak of the name that led to it."""
    link = _link(bridge, hit)
    if not link:
        return 0.0
    left = open_terms(question, parent)
    rest = sum(weight for term, weight in left.items() if term in hit.terms) / (sum(left.values()) or 1.0)
    return DECAY * parent_score * (LINK_SHARE * link + REST_SHARE * rest + NEXT_RANK_SHARE / (1 + rank))


def _link(bridge: Bridge, hit: Hit) -> float:
    """How closely a passage is tied to a name: its title is the name, or holds it, or one of its sentences does."""
    if bridge.terms in (hit.title, joined_terms(head_of(hit.passage.source.title))):
        return 1.0
    if bridge.terms in hit.title:
        return IN_TITLE
    name = frozenset(bridge.terms.split())
    return MENTIONED if any(holds_name(sentence.terms, name) for sentence in hit.sentences) else 0.0
