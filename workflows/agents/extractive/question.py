"""What a question asks: its subject, how it is framed, the names and years it holds."""

import re
from dataclasses import dataclass
from enum import StrEnum

from app.domain.query import Language, detect_language
from workflows.agents.extractive.names import names
from workflows.agents.extractive.nesting import is_nested
from workflows.agents.extractive.period import Period, find_period
from workflows.agents.extractive.sides import sides_of
from workflows.agents.extractive.telling import telling_weight
from workflows.agents.extractive.words import Word, is_light, listed, term_of, terms, words

NAME_WEIGHT = 2.0
PLAIN_WEIGHT = 1.0
LIGHT_WEIGHT = 0.5
LIGHT_NAME_WEIGHT = 0.75
SPEAKER_WEIGHT = 0.25
FRAME_WEIGHT = 0.1


class QuestionKind(StrEnum):
    """What an answer would look like.

    `WHY` wants reasons, `AGAINST` reasons against, `CHANGE` a course over time, `COMPARE` sides, `VIEWS` statements.
    """

    WHY = "why"
    AGAINST = "against"
    CHANGE = "change"
    COMPARE = "compare"
    VIEWS = "views"
    FACT = "fact"


@dataclass(frozen=True, slots=True)
class Question:
    """A question taken apart.

    `weights` gives each term's weight: a match on a name says much, on a word that only frames the question almost nothing;
    `subject_weights` is its part on the subject, `telling_weights` the same by how rare each word is. `phrases` is the terms of
    each name of several words, `telling` those of their terms that are not general. `speakers` is the terms of each name outside
    the subject: whoever is asked to have spoken, if a source is by them. `sides` is what a comparison compares. `subject` is the
    words to search for, as they were written; `written` is each of them in lower case.
    """

    text: str
    kind: QuestionKind
    language: Language
    weights: dict[str, float]
    subject: str
    written: tuple[str, ...]
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
        return self.kind is QuestionKind.FACT and _OPEN.match(self.text) is None and not is_nested(self.text)

    @property
    def wants_account(self) -> bool:
        """Whether it asks for an account (reasons, views, a course of time): many sources may each hold a part."""
        account = (QuestionKind.WHY, QuestionKind.AGAINST, QuestionKind.VIEWS, QuestionKind.CHANGE)
        return self.kind in account and not is_nested(self.text)

    def subject_share(self, terms: frozenset[str]) -> float:
        """The share of the subject's weight that these terms hold, from 0 to 1."""
        return _share(self.subject_weights, terms)

    def telling_share(self, terms: frozenset[str]) -> float:
        """The same, where common words count less."""
        return _share(self.telling_weights, terms)


def _share(weights: dict[str, float], terms: frozenset[str]) -> float:
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in terms) / total if total else 0.0


_FRAMES = frozenset(
    term_of(word)
    for word in listed("""
        say said justify justified explain describe argue defend oppose support view treat address discuss think
        change evolve develop differ compare contrast shift respond react affect influence cause impact portray
        present characterize characterise frame regard understand evaluate assess approach handle propose promise
        mention talk write speak criticize criticise praise give gave
    """)
)
_FRAME_NOUNS = frozenset(
    term_of(word)
    for word in listed("""
        language rhetoric attitude view opinion position stance discussion debate argument reason way role
        history evolution development thinking idea understanding approach policy statement evidence research
        literature overview summary difference similarity change question topic subject theme reaction response tone
        perception controversy controversial
    """)
)
_DESIGNATION = re.compile(r"\b[a-z]{3,} (?:[A-Z]|\d{1,2})\b(?!-)")
"""A noun and the letter or number that tells which: vitamin D, hepatitis B, type 2."""
_ABOUT = re.compile(r"\b(?:about|toward|towards|regarding|concerning|on the subject of|with respect to)\s+", re.IGNORECASE)
_CHANGE = re.compile(
    r"\bhow\b(?! (?:many|much|long|old|far)\b).*\b(?:chang|evolv|shift|develop|differ|var(?:y|ied))|\bover time\b"
    r"|\bevolution of\b|\bhistory of\b|\btimeline\b"
    r"|变化|演变|变迁|历史|发展",
    re.IGNORECASE,
)
_COMPARE = re.compile(
    r"\b(?:compare|contrast|versus|vs\.?|differences? between|differs? from|better than|worse than)\b|比较|区别|差异",
    re.IGNORECASE,
)
_IN_TIME = re.compile(
    r"\b(?:over|through(?:out)?|with|across) (?:(?:the|recent|many) )*(?:time|years|decades|centuries|history)\b", re.IGNORECASE
)
"""Says that a course is asked for, and nothing of what."""
_WHY = re.compile(r"\bwhy\b|\b(?:reasons?|causes?|justif\w+|motiv\w+|rationale)\b|为什么|为何|原因|理由", re.IGNORECASE)
_AGAINST = re.compile(
    r"\b(?:oppos\w+|against|critici\w+|object(?:ed|ions?)|reject\w*|resist\w*|attack\w*|condemn\w*|unpopular|dangers?"
    r"|harm\w*)\b|反对|批评|危害",
    re.IGNORECASE,
)
_BOTH_SIDES = re.compile(
    r"\bfor (?:and|or) against\b|\bpros and cons\b|\b(?:support\w*|favou?r\w*) (?:and|or) (?:oppos|reject)"
    r"|\b(?:oppos\w+|reject\w*) (?:and|or) (?:support|favou?r)|利弊|支持.{0,4}反对|反对.{0,4}支持",
    re.IGNORECASE,
)
"""Reasons against are asked for, and reasons for as much."""
_VIEWS = re.compile(
    r"\bwhat (?:did|do|does|has|have)\b.*\b(?:say|said|think|believe|argue|write|propose|promise)\b|\b(?:views?|opinions?"
    r"|attitudes?) (?:of|on)\b|\b(?:arguments?|debates?|case) (?:for|against|about|over|on)\b"
    r"|看法|观点|态度|说了",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"^\s*(?:how (?:did|do|does|has|have|is|are|was|were|can|should)|why"
    r"|(?:what|which)(?: reasons?| arguments?| grounds| views?| opinions?)? (?:did|do|does|has|have))\b",
    re.IGNORECASE,
)


def analyse(text: str) -> Question:
    """Take a question apart. Works on any text: what cannot be told apart counts as subject."""
    found = find_period(text)
    remaining = text[: found.start] + " " * (found.end - found.start) + text[found.end :] if found else text
    kind = _kind(remaining)
    remaining = _IN_TIME.sub(lambda frame: " " * len(frame.group()), remaining)
    content = [word for word in words(remaining) if word.term]
    subject = (_subject(remaining, content, kind) if _frames(remaining, kind) else content) or content
    weights = _weights(content, subject, remaining)
    found_names = [*_DESIGNATION.findall(remaining), *names(remaining)]
    named = tuple(name for name in found_names if any(weights.get(term_of(part), 0) > FRAME_WEIGHT for part in name.split()))
    subject_terms = frozenset(word.term for word in subject)
    phrases = _phrases(named, subject_terms)
    return Question(
        text=text,
        kind=kind,
        language=detect_language(text),
        weights=weights,
        subject=_phrase(remaining, subject),
        written=tuple(word.text.lower() for word in subject),
        subject_terms=subject_terms,
        subject_weights={word.term: weights[word.term] for word in subject},
        telling_weights={word.term: weights[word.term] * telling_weight(word.text) for word in subject},
        names=named,
        phrases=phrases,
        telling=frozenset(term for phrase in phrases for term in phrase if not is_light(term)),
        sides=_sides(remaining, named) if kind is QuestionKind.COMPARE else (),
        speakers=tuple(n for n in (frozenset(terms(name)) for name in named) if n and n.isdisjoint(subject_terms)),
        period=found.period if found else Period(),
    )


def _sides(text: str, named: tuple[str, ...]) -> tuple[str, ...]:
    """What is compared: the question's names, or, where it has no two, what its wording puts side by side."""
    return named if len(named) > 1 else sides_of(text)


def _phrases(named: tuple[str, ...], subject: frozenset[str]) -> tuple[frozenset[str], ...]:
    """The names in the subject that have several words, as terms."""
    found = (frozenset(word.term for word in words(name) if word.term) for name in named)
    return tuple(phrase for phrase in found if len(phrase) > 1 and phrase <= subject)


def _kind(text: str) -> QuestionKind:
    for pattern, kind in (
        (_COMPARE, QuestionKind.COMPARE),
        (_CHANGE, QuestionKind.CHANGE),
        (_WHY, QuestionKind.WHY),
        (_VIEWS, QuestionKind.VIEWS),
    ):
        if pattern.search(text):
            against = kind in (QuestionKind.WHY, QuestionKind.VIEWS) and _AGAINST.search(text) and not _BOTH_SIDES.search(text)
            return QuestionKind.AGAINST if against else kind
    return QuestionKind.FACT


def _frames(text: str, kind: QuestionKind) -> bool:
    """Whether a question has a frame around its subject; one that asks for a fact is all subject."""
    return kind is not QuestionKind.FACT or _OPEN.match(text) is not None


def _subject(text: str, content: list[Word], kind: QuestionKind) -> list[Word]:
    """The words the question is about: what follows "about" or the framing verb, else all that does not frame."""
    about = _ABOUT.search(text)
    if about and (after := _unframed([w for w in content if w.start >= about.end()])):
        return after
    if kind is QuestionKind.COMPARE or not _OPEN.match(text):
        return _unframed(content)
    verb = next((w for w in content if w.term in _FRAMES and w.text[0].islower()), None)
    if verb is None:
        return _unframed(content)
    return _unframed([w for w in content if w.start > verb.start]) or _unframed([w for w in content if w.start < verb.start])


def _unframed(content: list[Word]) -> list[Word]:
    return [word for word in content if word.term not in _FRAMES and word.term not in _FRAME_NOUNS]


def _weights(content: list[Word], subject: list[Word], text: str) -> dict[str, float]:
    subject_terms = {word.term for word in subject}
    weights: dict[str, float] = {}
    for word in content:
        if word.term in subject_terms:
            weight = _own_weight(word, text)
        elif word.term in _FRAMES or word.term in _FRAME_NOUNS:
            weight = FRAME_WEIGHT
        else:
            weight = NAME_WEIGHT if word.text[0].isupper() else SPEAKER_WEIGHT
        weights[word.term] = max(weights.get(word.term, 0.0), weight)
    return weights


def _own_weight(word: Word, text: str) -> float:
    starts = not text[: word.start].strip(" \"'“‘(")
    if len(word.text) == 1:
        return LIGHT_WEIGHT
    if word.text[0].isdigit() or (word.text[0].isupper() and not starts):
        return LIGHT_NAME_WEIGHT if is_light(word.term) else NAME_WEIGHT
    return LIGHT_WEIGHT if is_light(word.term) else PLAIN_WEIGHT


def _phrase(text: str, subject: list[Word]) -> str:
    """The subject as a search phrase: the stretch of text it spans when that is short, else its words alone."""
    if not subject:
        return text.strip()
    stretch = text[subject[0].start : subject[-1].end]
    if len(stretch.split()) <= len(subject) + 3:
        return " ".join(stretch.split())
    return " ".join(dict.fromkeys(word.text for word in subject))
