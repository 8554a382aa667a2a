"""Which passages are on a question's subject, and how much they dwell on it."""

from collections.abc import Iterator, Sequence
from math import log2

from workflows.agents.extractive.coverage import asked_terms
from workflows.agents.extractive.hits import Hit
from workflows.agents.extractive.names import holds_name
from workflows.agents.extractive.question import Question
from workflows.agents.extractive.relevance import IN_SCOPE, Lens
from workflows.agents.extractive.sentences import Sentence
from workflows.agents.extractive.telling import MOSTLY
from workflows.agents.extractive.words import terms

ON_SUBJECT = 0.75
NEARLY = 0.5
MANY = 8
"""So many passages on its subject make a question one to survey; with fewer, chains of evidence are followed."""
FEWEST, OF_ALL = 3, 3
"""In a small collection a third of all that was found is many, if it is three."""


def many(question: Question, hits: Sequence[Hit]) -> int:
    """How many of these passages have to be on a question's subject for much to be said on it.

    A few notes hold no chains of evidence, unless the question has one in it or asks about something by its name.
    """
    return MANY if question.nested or question.closed or question.names else min(MANY, max(FEWEST, -(-len(hits) // OF_ALL)))


def on_subject(question: Question, hits: Sequence[Hit]) -> list[Hit]:
    """The passages that hold nearly all of the question's subject; where some hold its names as names, only those; where
    it names who spoke, theirs.

    Where these are few and an account is asked for, half will do: who annexes Texas need not say territory.
    """
    fitting = _holding(question, hits, ON_SUBJECT)
    if len(fitting) < MANY and question.wants_account:
        wider = [hit for hit in _holding(question, hits, NEARLY) if _asked(question, hit)]
        fitting = wider if len(wider) >= MANY else fitting
    return fitting


def _asked(question: Question, hit: Hit) -> bool:
    """Whether a passage holds something of what a question asks about its names: the army, and not just some civil war."""
    asked = asked_terms(question).keys()
    return not question.names or not asked or not asked.isdisjoint(hit.terms)


def _holding(question: Question, hits: Sequence[Hit], share: float) -> list[Hit]:
    fitting = spoken(question, [hit for hit in hits if question.subject_share(hit.terms) >= share])
    return [hit for hit in fitting if names_subject(question, hit)] or fitting


def bearing_on(question: Question, hits: Sequence[Hit]) -> list[Hit]:
    """The passages that hold most of what the one with most of the question holds: those that answer it by themselves.

    None where no passage holds most of the question.
    """
    best = max((question.telling_share(hit.terms) for hit in hits), default=0.0)
    near = [hit for hit in hits if best >= MOSTLY and question.telling_share(hit.terms) >= ON_SUBJECT * best]
    return [hit for hit in near if names_subject(question, hit)] or near


def on_topic(hits: Sequence[Hit], topic: frozenset[str]) -> list[Hit]:
    """The passages that hold most of a topic's terms; all where it has none."""
    return [hit for hit in hits if len(topic & hit.terms) >= NEARLY * len(topic)]


def spoken(question: Question, hits: Sequence[Hit]) -> list[Hit]:
    """The passages by whom the question asks to have spoken, where some are: what Roosevelt said is in no speech of Taft's."""
    theirs = [hit for hit in hits if any(name.issubset(terms(hit.passage.source.author)) for name in question.speakers)]
    return theirs or list(hits)


def names_subject(question: Question, hit: Hit) -> bool:
    """Whether a passage or its title holds every name of several words in the question's subject."""
    if not question.phrases:
        return True
    held = (terms(hit.passage.source.title), *(sentence.terms for sentence in hit.sentences))
    return all(any(holds_name(stretch, phrase) for stretch in held) for phrase in question.phrases)


def focus(lens: Lens, hit: Hit) -> float:
    """How much a passage dwells on the subject, from 0 (a mention in passing) to 1: its sentences on it, weighed
    logarithmically."""
    named = names_subject(lens.question, hit)
    dwelling = sum(lens.share(sentence, named) >= IN_SCOPE for sentence in hit.sentences)
    return min(1.0, log2(1 + dwelling) / 2)


def told_apart(lens: Lens, hits: Sequence[Hit], background: Sequence[Sentence] = ()) -> Iterator[tuple[bool, Sentence]]:
    """Every sentence with whether it speaks of the subject; `background` sentences are judged by themselves."""
    for hit in hits:
        named = names_subject(lens.question, hit)
        for sentence in hit.sentences:
            yield lens.in_scope(sentence, named), sentence
    for sentence in background:
        yield lens.in_scope(sentence), sentence
