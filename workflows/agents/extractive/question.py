"""What a question asks: its subject, how it is framed, the names and years it holds."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from app.domain.query import Language, detect_language
from workflows.agents.extractive.framing import FRAME_NOUNS, FRAMES, is_actor, phrase, subject_of
from workflows.agents.extractive.kinds import ARGUED, QuestionKind, asks_who, is_open, is_topic, kind_of
from workflows.agents.extractive.names import names
from workflows.agents.extractive.nesting import is_nested
from workflows.agents.extractive.period import Period, find_period, find_year
from workflows.agents.extractive.senses import nouns_of
from workflows.agents.extractive.sides import sides_of
from workflows.agents.extractive.telling import telling_weight
from workflows.agents.extractive.words import Word, is_light, named_things, term_of, terms, words

NAME_WEIGHT = 2.0
PLAIN_WEIGHT = 1.0
LIGHT_WEIGHT = 0.5
LIGHT_NAME_WEIGHT = 0.75
SPEAKER_WEIGHT = 0.25
FRAME_WEIGHT = 0.1
PART_WEIGHT = 0.25
"""What the words of a name keep of their weight where the thing has others: a free press is the freedom of the press."""
MOST_OF_LIGHT = 0.7


class Called(NamedTuple):
    """What goes by several names: as the question has it, the terms of its words, the thing's own term, and its other names."""

    written: str
    parts: frozenset[str]
    term: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question taken apart.

    `weights` gives each term's weight: a match on a name says much, on a word that only frames the question almost nothing;
    `subject_weights` is its part on the subject, `telling_weights` the same by how rare each word is. `phrases` is the terms of
    each name or compound of several words, `telling` those of their terms that are not general. `speakers` is the terms of each
    name outside the subject: whoever is asked to have spoken, if a source is by them. `called` is what of the subject goes by
    other names, `nouns` its words that are nouns (see `nouns_of`), `asked` what is asked to have been done about it, where that
    is no mere framing. `sides` is what a comparison compares, or several who are asked to have spoken. `subject` is the words to
    search for, as they were written; `written` is each in lower case, and other names of what goes by several.
    """

    text: str
    kind: QuestionKind
    language: Language
    weights: dict[str, float]
    subject: str
    written: tuple[str, ...]
    called: tuple[Called, ...]
    asked: frozenset[str]
    nouns: frozenset[str]
    subject_terms: frozenset[str]
    subject_weights: dict[str, float]
    telling_weights: dict[str, float]
    names: tuple[str, ...]
    phrases: tuple[frozenset[str], ...]
    telling: frozenset[str]
    speakers: tuple[frozenset[str], ...]
    sides: tuple[str, ...]
    period: Period

    @property
    def closed(self) -> bool:
        """Whether it asks for one thing (who, when, whether) and names it: no account, and nothing that must be found first."""
        return self.kind is QuestionKind.FACT and not is_open(self.text) and not self.nested

    @property
    def negation(self) -> str:
        """The word by which the question asks for what is not so; empty where none does, or where it asks for objections."""
        found = _NEGATION.search(self.text)
        return found.group() if found and self.kind is not QuestionKind.AGAINST else ""

    @property
    def nested(self) -> bool:
        """Whether a part of it is a question of its own, which has to be answered first."""
        return is_nested(self.text) and not is_topic(self.text)

    @property
    def asks_who(self) -> bool:
        """Whether it asks who of those that speak in the sources did something: each is an answer."""
        return asks_who(self.text)

    @property
    def compounds(self) -> tuple[str, ...]:
        """Words of it that are one, as they are written; a plain fact may be found by either."""
        return _compounds(self.text, self.kind)

    @property
    def wants_account(self) -> bool:
        """Whether it asks for an account (reasons, views, a course of time): many sources may each hold a part."""
        account = (*ARGUED, QuestionKind.VIEWS, QuestionKind.CHANGE)
        return self.kind in account and not self.nested

    def subject_share(self, terms: frozenset[str]) -> float:
        """The share of the subject's weight that these terms hold, from 0 to 1."""
        return _share(self.subject_weights, terms)

    def telling_share(self, terms: frozenset[str]) -> float:
        """The same, where common words count less."""
        return _share(self.telling_weights, terms)


def _share(weights: dict[str, float], terms: frozenset[str]) -> float:
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in terms) / total if total else 0.0


_DESIGNATION = re.compile(r"\b[a-z]{3,} (?:[A-Z]|\d{1,2})\b(?!-)")
"""A noun and the letter or number that tells which: vitamin D, hepatitis B, type 2."""
_COMPOUND = re.compile(r"(?<![\w-])[a-z]{3,}(?:-[a-z]{3,})+(?![\w-])")
"""Words that are one: the military-industrial complex is not the complex organisation of the military."""
_IN_TIME = re.compile(
    r"\b(?:over|through(?:out)?|with|across) (?:(?:the|recent|many) )*(?:time|years|decades|centuries|history)\b", re.IGNORECASE
)
"""Says that a course is asked for, and nothing of what."""
_NEGATION = re.compile(r"(?<!or )(?<!if )(?<!why )\bnot\b(?! only)|\bnever\b|\b\w+n['’]t\b", re.IGNORECASE)
_IMPERATIVE = re.compile(
    r"^\W*(?:Compare|Contrast|Explain|Describe|Discuss|Summari[sz]e|Outline|Trace|List|Name|Give|Tell|Did|Do)\b"
)
"""A capital there begins the question, not a name: "Compare Jackson" is nobody."""


def analyse(text: str) -> Question:
    """Take a question apart. Works on any text: what cannot be told apart counts as subject."""
    kind = kind_of(text)
    # What was said in a year stands in sources of that year; what happened in it may be told in any.
    found = find_period(text) or (find_year(text) if kind is QuestionKind.VIEWS else None)
    remaining = text[: found.start] + " " * (found.end - found.start) + text[found.end :] if found else text
    kind = kind_of(remaining)
    remaining = _IMPERATIVE.sub(lambda asks: asks.group().lower(), remaining)
    remaining = _IN_TIME.sub(lambda frame: " " * len(frame.group()), remaining)
    content = [word for word in words(remaining) if word.term]
    subject = _subject(remaining, content, kind) or content
    weights = _weights(content, subject, remaining)
    telling = {word.term: _telling(word) for word in subject}
    found_names = [*_DESIGNATION.findall(remaining), *names(remaining)]
    called = _called(remaining, subject, found_names)
    for name in called:
        weights[name.term] = max(weights[part] for part in name.parts)
        telling[name.term] = max(telling[part] for part in name.parts)
    weights |= {part: PART_WEIGHT * weights[part] / len(name.parts) for name in called for part in name.parts}
    otherwise = {name.written.lower() for name in called}
    named = tuple(
        name
        for name in found_names
        if name.lower() not in otherwise and any(weights.get(term_of(part), 0) > FRAME_WEIGHT for part in name.split())
    )
    subject_terms = frozenset(telling)
    phrases = _phrases((*named, *_compounds(remaining, kind)), subject_terms)
    speakers = tuple(name for name in named if (own := frozenset(terms(name))) and own.isdisjoint(subject_terms))
    return Question(
        text=text,
        kind=kind,
        language=detect_language(text),
        weights=weights,
        subject=phrase(remaining, subject),
        written=(*(word.text.lower() for word in subject), *(other.lower() for name in called for other in name.others)),
        called=called,
        nouns=nouns_of(remaining, subject),
        asked=frozenset(term for term, weight in weights.items() if weight == SPEAKER_WEIGHT and not is_actor(term))
        - telling.keys(),
        subject_terms=subject_terms,
        subject_weights={term: weights[term] for term in telling},
        telling_weights={term: weights[term] * share for term, share in telling.items()},
        names=named,
        phrases=phrases,
        telling=frozenset(term for phrase in phrases for term in phrase if not is_light(term)),
        sides=_sides(remaining, named) if kind is QuestionKind.COMPARE else speakers if len(speakers) > 1 else (),
        speakers=tuple(frozenset(terms(name)) for name in speakers),
        period=found.period if found else Period(),
    )


def _subject(text: str, content: list[Word], kind: QuestionKind) -> list[Word]:
    """What a question is about; one that asks for a plain fact has no frame around its subject, so all of it."""
    fact, opened = kind is QuestionKind.FACT, is_open(text)
    if fact and not opened:
        return content
    return subject_of(text, content, opened and kind is not QuestionKind.COMPARE, fact)


def _called(text: str, subject: list[Word], named: list[str]) -> tuple[Called, ...]:
    """What a question's subject has that goes by several names; of names within one another the longest.

    Nothing that is a part of a longer name: the European Trade Union Confederation is no organised labour.
    """
    found, own = words(text), {word.start for word in subject}
    longest: list[Called] = []
    taken: set[int] = set()
    for thing in sorted(named_things(found), key=lambda thing: thing.first - thing.last):
        places = range(thing.first, thing.last)
        parts = [found[place] for place in places if found[place].term]
        if not taken.isdisjoint(places) or not own.issuperset(word.start for word in parts):
            continue
        written = text[found[thing.first].start : found[thing.last - 1].end]
        if any(written in name and written != name for name in named):
            continue
        taken.update(places)
        others = tuple(name for name in thing.known.names if terms(name) != terms(written))
        longest.append(Called(written, frozenset(word.term for word in parts), thing.known.term, others))
    return tuple(longest)


def _sides(text: str, named: tuple[str, ...]) -> tuple[str, ...]:
    """What is compared: the question's names, or, where it has no two, what its wording puts side by side."""
    return named if len(named) > 1 else sides_of(text)


def _compounds(text: str, kind: QuestionKind) -> tuple[str, ...]:
    return () if kind is QuestionKind.FACT else tuple(_COMPOUND.findall(text))


def _phrases(named: tuple[str, ...], subject: frozenset[str]) -> tuple[frozenset[str], ...]:
    """The names and compounds in the subject that have several words, as terms."""
    found = (frozenset(word.term for word in words(name) if word.term) for name in named)
    return tuple(phrase for phrase in found if len(phrase) > 1 and phrase <= subject)


def _weights(content: list[Word], subject: list[Word], text: str) -> dict[str, float]:
    subject_terms = {word.term for word in subject}
    weights: dict[str, float] = {}
    for word in content:
        if word.term in subject_terms:
            weight = _own_weight(word, text)
        elif word.term in FRAMES or word.term in FRAME_NOUNS:
            weight = FRAME_WEIGHT
        else:
            weight = NAME_WEIGHT if word.text[0].isupper() else SPEAKER_WEIGHT
        weights[word.term] = max(weights.get(word.term, 0.0), weight)
    return weights


def _telling(word: Word) -> float:
    """How much a word tells; a general one little, however seldom its form is met."""
    return min(MOST_OF_LIGHT, telling_weight(word.text)) if is_light(word.term) else telling_weight(word.text)


def _own_weight(word: Word, text: str) -> float:
    starts = not text[: word.start].strip(" \"'“‘(")
    if len(word.text) == 1:
        return LIGHT_WEIGHT
    if word.text[0].isdigit() or (word.text[0].isupper() and not starts):
        return LIGHT_NAME_WEIGHT if is_light(word.term) else NAME_WEIGHT
    return LIGHT_WEIGHT if is_light(word.term) else PLAIN_WEIGHT
