"""The aspects of a subject, read off the corpus: noun phrases that sentences on it share and others around them do not."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from workflows.agents.extractive.sentences import Sentence
from workflows.agents.extractive.words import Word, is_ideographic, is_light, listed, term_of, words

_BEFORE_NOUN = frozenset(
    listed("""
        the a an of our their its his her my your this that these those all such and or in by for from on with upon
        any every no some more most other between against under into over through without toward towards as than both
        each
    """)
)
_DETERMINERS = frozenset(listed("the a an our their its his her my your this that these those any every no each"))
_GOES_ON = _DETERMINERS | frozenset(listed("and or but nor it them him us me you myself ourselves themselves not"))
_NOT_NOUNS = ("ly", "ive", "ous", "ful", "able", "ible", "less", "ish", "ed", "ing", "ific", "atory", "ional", "etic")
_BLAND = frozenset(
    term_of(word)
    for word in listed("""
        january february march april may june july august september october november december monday sunday addition
        adoption agreement aid amendment annual appearance application approval attention attempt authority benefit
        capacity chance choice circumstance concern conclusion consequence consideration consistency contrary course
        decision degree demand desire detail difficulty direction duty effort event evidence execution existence
        expectation experience expression extension failure favor favour feature force friend honor hope ii iii idea
        influence information instance instrument intent intention judgment knowledge lack line manner means measure
        message mode moment necessity object objective objection observation occasion office operation opinion
        opportunity order ordinance pass passage patience pleasure policy possession power presence pressure
        prevention privilege proceeding proportion proposal proposition prospect provision quality quarter quantity
        rate readiness real recommendation reference regard regulation remark request resource satisfaction secretary
        section seek sense session share sight significance situation size solution equal permit care million dollar
        thousand hundred fiscal cent upward half whole past lot front kind correct bill source spirit stage statement
        strength study success suggestion sum support suspension task tendency test theory topic understanding view
        law imposition revision reduction citizen interest article charge limit branch deficiency affair latter greater field
        virtue vote want whence congress government senate department president executive mr note example doubt
        thereof herein america american administration
    """)
)
"""Nouns that may well be in a sentence but tell a reader nothing as a heading."""
_ABSTRACT = ("ment", "tion", "sion", "ance", "ence", "ity", "ments", "tions", "sions", "ities", "ure")
_ABSTRACT_DISCOUNT = 0.5
_PHRASE_BONUS = 1.3
_TOGETHER = 0.34
COMPANIONS = 0.2
"""Of the sentences that hold the rarer of two phrases, the share that hold both, for a heading to name both."""
_MIN_SOURCES = 2
_CONSIDERED = 60
STEM = 4
ALONE = 0.15


@dataclass(slots=True)
class Phrase:
    """A noun phrase: how it is usually written, the sentences that hold it, and the sources of those."""

    terms: tuple[str, ...]
    written: Counter[str] = field(default_factory=Counter)
    places: set[tuple[str, int]] = field(default_factory=set)
    sources: set[str] = field(default_factory=set)
    outside: int = 0
    alone: int = 0

    @property
    def is_noun(self) -> bool:
        """Whether a single word is a noun by its company: now and then it follows an article directly and ends its phrase.

        In "a strong and growing economy that protects the weak" neither "strong" nor "protects" does.
        """
        return len(self.terms) > 1 or self.alone >= ALONE * len(self.places) or is_ideographic(self.text)

    @property
    def text(self) -> str:
        """The form it is most often written in; of equals the first in the alphabet, so that runs agree."""
        return max(sorted(self.written), key=lambda form: self.written[form])


@dataclass(frozen=True, slots=True)
class Aspect:
    """One side of a subject: phrases that occur together, the most telling first."""

    phrases: tuple[str, ...]
    terms: frozenset[str]
    weight: float


def find_aspects(told_apart: Iterable[tuple[bool, Sentence]], limit: int, avoid: frozenset[str]) -> list[Aspect]:
    """Up to `limit` aspects, the most telling first; phrases holding a term of `avoid` are none.

    `told_apart` gives each sentence with whether it speaks of the subject.
    """
    ranked = _ranked(told_apart, avoid)
    aspects: list[Aspect] = []
    used: set[str] = set()
    seeds: list[Phrase] = []
    for weight, phrase in ranked:
        if len(aspects) == limit:
            break
        if used.intersection(phrase.terms) or any(_together(phrase, seed) > _TOGETHER for seed in seeds):
            continue
        companions = _companions(phrase, ranked, used)
        used.update(phrase.terms, *(c.terms for c in companions))
        seeds.append(phrase)
        members = (phrase, *companions)
        aspects.append(Aspect(tuple(m.text for m in members), frozenset(t for m in members for t in m.terms), weight))
    return aspects


def _ranked(told_apart: Iterable[tuple[bool, Sentence]], avoid: frozenset[str]) -> list[tuple[float, Phrase]]:
    found: dict[tuple[str, ...], Phrase] = {}
    counts = [0, 0]
    for speaks, sentence in told_apart:
        counts[not speaks] += 1
        for terms, text, alone in noun_phrases(sentence.text):
            if avoid.isdisjoint(terms):
                phrase = found.setdefault(terms, Phrase(terms))
                if speaks:
                    phrase.alone += alone
                    phrase.written[text] += 1
                    phrase.places.add(sentence.place)
                    phrase.sources.add(sentence.source.url)
                else:
                    phrase.outside += 1
    known = (phrase for phrase in found.values() if len(phrase.sources) >= _MIN_SOURCES and phrase.is_noun)
    scored = [(_weight(phrase, counts), phrase) for phrase in known]
    scored.sort(key=lambda pair: (-pair[0], pair[1].terms))
    return [pair for pair in scored[:_CONSIDERED] if pair[0] > 0]


def _weight(phrase: Phrase, counts: Sequence[int]) -> float:
    ratio = ((len(phrase.places) + 0.5) / (counts[0] + 1)) / ((phrase.outside + 1) / (counts[1] + 2))
    spread = len(phrase.sources) * math.log(1 + len(phrase.places))
    form = _PHRASE_BONUS if len(phrase.terms) > 1 else _ABSTRACT_DISCOUNT if phrase.text.endswith(_ABSTRACT) else 1.0
    return spread * max(0.0, 0.6 + math.log(ratio)) * form


def _companions(seed: Phrase, ranked: Iterable[tuple[float, Phrase]], used: set[str], most: int = 1) -> list[Phrase]:
    """The phrases that most often share a sentence with the seed."""
    close = sorted(
        (
            (_together(seed, other) * weight, other.terms, other)
            for weight, other in ranked
            if other is not seed and not used.intersection(other.terms)
        ),
        reverse=True,
        key=lambda found: (found[0], found[1]),
    )
    chosen: list[Phrase] = []
    for _, terms, other in close:
        taken = set(seed.terms).union(*(c.terms for c in chosen))
        if len(chosen) < most and _together(seed, other) >= COMPANIONS and not _akin(taken, terms):
            chosen.append(other)
    return chosen


def _akin(taken: set[str], terms: Iterable[str]) -> bool:
    """Whether terms repeat taken ones, or begin as they do: "wild" beside "wildlife" tells a reader nothing new."""
    return any(t == u or (min(len(t), len(u)) >= STEM and (t.startswith(u) or u.startswith(t))) for t in taken for u in terms)


def _together(one: Phrase, other: Phrase) -> float:
    return len(one.places & other.places) / (min(len(one.places), len(other.places)) or 1)


class Mention(NamedTuple):
    """A noun phrase where it stands: its terms, its form as written, and whether it is all that follows an article."""

    terms: tuple[str, ...]
    text: str
    alone: bool


def noun_phrases(text: str) -> list[Mention]:
    """Likely noun phrases of one or two words: runs of content words after a determiner or preposition."""
    found: list[Mention] = []
    run: list[Word] = []
    before = ""
    for word in [*words(text), None]:
        if word is not None and word.term and (not run or text[run[-1].end : word.start] in (" ", "-")):
            run.append(word)
            continue
        if run:
            found.extend(_heads(text, run, before, _ends(text, run[-1], word)))
        before, run = _next(text, run, word)
    return found


def _next(text: str, run: list[Word], word: Word | None) -> tuple[str, list[Word]]:
    if word is None:
        return "", []
    if word.term:
        gap = text[run[-1].end : word.start] if run else ""
        return ("and" if gap.strip() == "," else ""), [word]
    return word.text.lower(), []


def _ends(text: str, last: Word, after: Word | None) -> bool:
    """Whether a phrase ends before what follows it; a verb has its object there, an adjective another one or its noun."""
    if after is None or text[last.end : after.start].strip():
        return True
    return after.text.lower() not in _GOES_ON


def _heads(text: str, run: list[Word], before: str, ends: bool) -> list[Mention]:
    last = run[-1]
    if is_ideographic(last.text):
        return [Mention((last.term,), last.text, True)]
    if before not in _BEFORE_NOUN or last.text.lower().endswith(_NOT_NOUNS) or any(w.text[0].isdigit() for w in run[-2:]):
        return []
    heads: list[Mention] = []
    if not _plain(last):
        heads.append(Mention((last.term,), last.text, ends and len(run) == 1 and before in _DETERMINERS))
    if len(run) > 1 and _pairs(run[-2], last):
        heads.append(Mention((run[-2].term, last.term), text[run[-2].start : last.end], False))
    return heads


def _pairs(first: Word, last: Word) -> bool:
    """Whether two words are worth naming together: both tell something, or they make a name, as in "North Slope"."""
    plain = _plain(first), _plain(last)
    named = first.text[0].isupper() and last.text[0].isupper()
    return not first.text.endswith("ly") and (not any(plain) or (named and not all(plain)))


def _plain(word: Word) -> bool:
    return is_light(word.term) or word.term in _BLAND
