"""Whether passages can answer a question at all, and which of its words none of them holds."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from workflows.agents.extractive.entities import Entities
from workflows.agents.extractive.hits import Hit
from workflows.agents.extractive.names import bare_title, names
from workflows.agents.extractive.question import PLAIN_WEIGHT, Question
from workflows.agents.extractive.sentences import Sentence
from workflows.agents.extractive.telling import MOSTLY, TELLING, telling_weight
from workflows.agents.extractive.words import is_light, term_of, terms, words

FULL = 0.75
PROMISING = 0.3
NEAR_BY_NAME, NEAR_BY_SOME_NAMES, NEAR_WITHOUT_NAME = 0.25, 0.4, 0.55
SOME_NAMES, ALL_NAMES = 0.5, 0.9
MOST_TERMS = 0.75
FEWEST_WORDS = 2
RARE_NAME, MOST_NAMES = 1.0, 0.5
_IN_DATES = frozenset(term_of(word) for word in ("born", "died", "lived"))
"""What two years in brackets say without the word."""
MOST_ASKED = 0.6


def answerable(question: Question, hits: Sequence[Hit]) -> bool:
    """Whether these passages come near enough to the question to quote them in answer to it.

    Either one passage holds most of the question, or its names occur, one of them in company of another telling word or as a
    title, and one passage holds a fair part, or, where it has none, one passage holds the greater part and most telling words
    occur. Thresholds were set on questions asked of a collection that answers them and of one that does not.
    """
    best = max((question.subject_share(hit.terms) for hit in hits), default=0.0)
    if not question.names:
        telling = _telling(question)
        held = sum(weight for term, weight in telling.items() if any(term in hit.terms for hit in hits))
        return best >= FULL or (best >= NEAR_WITHOUT_NAME and held >= MOST_TERMS * sum(telling.values()))
    named = _share_of_names(question, hits)
    near = best >= (NEAR_BY_NAME if named >= ALL_NAMES else NEAR_BY_SOME_NAMES)
    if len(question.names) == 1 and named <= SOME_NAMES:
        return False  # words of the only name, scattered: native and naturalised Americans are no Native Americans
    return best >= FULL or (named >= SOME_NAMES and near and _in_company(question, hits))


def answered_in_one(question: Question, hits: Iterable[Hit]) -> bool:
    """Whether a single passage holds most of the question: its names and most else that tells. No chain is needed then."""
    return any(holds_question(question, hit) for hit in hits)


def holds_question(question: Question, hit: Hit) -> bool:
    """Whether a passage holds most of the question, and of what it asks about its names."""
    if question.telling_share(hit.terms) < MOSTLY or any(_held(name, [hit]) < ALL_NAMES for name in question.names):
        return False
    return holds_asked(question, hit.terms)


def asked_terms(question: Question) -> dict[str, float]:
    """What a question asks about its names: its other telling terms, with their weights; where none tells, the best there are."""
    own = frozenset(term for name in question.names for term in terms(name)) | _IN_DATES
    others = {term: weight for term, weight in question.telling_weights.items() if term not in own and not term[0].isdigit()}
    telling = {term: weight for term, weight in others.items() if weight >= TELLING}
    return (
        telling or {term: weight for term, weight in others.items() if question.subject_weights[term] >= PLAIN_WEIGHT} or others
    )


def bears_on(question: Question, sentence: Sentence) -> bool:
    """Whether a statement bears on a question: without names, by a telling word of it.

    With names, by something it asks about them, by being on a page of one of them, or by most of its names, where these tell by
    themselves what is spoken of, as Panama does and Union does not.
    """
    asked = asked_terms(question).keys()
    held = sentence.term_set | frozenset(terms(sentence.source.title))
    if not question.names:
        telling = _telling(question).keys()
        return not telling or not telling.isdisjoint(held)
    titled = frozenset(terms(bare_title(sentence.source.title)))
    if not asked or not asked.isdisjoint(held) or any(titled == set(terms(name)) for name in question.names):
        return True
    weights = {name: sum(question.telling_weights.get(term, 0.0) for term in terms(name)) for name in question.names}
    told = sum(weight for name, weight in weights.items() if frozenset(terms(name)) <= held and _tells(name))
    return told > MOST_NAMES * sum(weights.values())


def _tells(name: str) -> bool:
    own = terms(name)
    if name.isupper():  # an acronym is written so nowhere else
        return True
    return any(not is_light(term) for term in own) and (len(own) >= FEWEST_WORDS or telling_weight(name) >= RARE_NAME)


def holds_asked(question: Question, held: frozenset[str]) -> bool:
    """Whether terms hold most of what a question asks about its names."""
    asked = asked_terms(question)
    return sum(weight for term, weight in asked.items() if term in held) >= MOST_ASKED * sum(asked.values())


def promising(question: Question, hits: Sequence[Hit]) -> bool:
    """Whether it is worth following these passages any further: one holds a fair part of the question or one of its names."""
    if any(question.subject_share(hit.terms) >= PROMISING for hit in hits):
        return True
    return bool(question.names) and _share_of_names(question, hits) > 0


def _share_of_names(question: Question, hits: Sequence[Hit]) -> float:
    """The mean, over the question's names, of the largest part of a name that one passage holds as it stands."""
    return sum(_held(name, hits) for name in question.names) / len(question.names)


def _held(written: str, hits: Sequence[Hit]) -> float:
    """A name of one word counts only as it is written: Hamlet is no hamlet."""
    name = frozenset(terms(written))
    if len(name) < FEWEST_WORDS:
        return float(any(written in hit.passage.text or written in hit.passage.source.title for hit in hits))
    whole = any(name.issubset(called) for hit in hits for called in _names_in(hit.passage.source.title, hit.passage.text))
    whole = whole or any(
        _together(stretch, name) for hit in hits for stretch in (hit.title.split(), *(s.terms for s in hit.sentences))
    )
    return 1.0 if whole else max((len(name & hit.terms) / len(name) for hit in hits), default=0.0) / 2


@lru_cache(maxsize=1_024)
def _names_in(title: str, text: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(terms(name)) for name in (title, *names(text)))


def _together(stretch: Sequence[str], name: frozenset[str]) -> bool:
    return any(name == frozenset(stretch[start : start + len(name)]) for start in range(len(stretch) - len(name) + 1))


def _in_company(question: Question, hits: Sequence[Hit]) -> bool:
    """Whether a name stands with another telling word of the question, or has a page of its own: Naples alone is no pizza."""
    entities = Entities(question)
    entities.learn(hits)
    own = frozenset(term for name in question.names for term in terms(name))
    others = _telling(question).keys() - own
    if not others or any(entities.named(hit) for hit in hits):
        return True
    return any(not others.isdisjoint(hit.terms) and _held(name, [hit]) == 1.0 for hit in hits for name in question.names)


def _telling(question: Question) -> dict[str, float]:
    return {term: weight for term, weight in question.subject_weights.items() if weight >= PLAIN_WEIGHT}


def missing_words(question: Question, hits: Sequence[Hit]) -> list[str]:
    """The question's names and telling words, as written, that no passage holds; Chinese pairs that overlap come as one word."""
    seen = frozenset(term for hit in hits for term in hit.terms)
    telling = _telling(question)
    spans: list[tuple[int, int]] = []
    for word in words(question.text):
        if word.term in telling and word.term not in seen:
            if spans and word.start < spans[-1][1]:
                spans[-1] = (spans[-1][0], word.end)
            else:
                spans.append((word.start, word.end))
    whole = [name for name in question.names if len(terms(name)) >= FEWEST_WORDS and _held(name, hits) < ALL_NAMES]
    alone = (question.text[start:end] for start, end in spans)
    return list(dict.fromkeys((*whole, *(word for word in alone if not any(word in name for name in whole)))))
