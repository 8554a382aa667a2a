"""Ranking the units of passages by a question, by meaning, by words, and by how well their passages were found; and choosing.

A cosine of two sentences says more about what both are about than the words that they share; a name or a number says more than
a cosine. So both count. A passage's cosine and the score that the search gave it count for all of its units.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log

from app.domain.script import is_ideograph
from retrieval.building.chunking import CELL
from retrieval.language.names import find_names
from retrieval.language.stems import find_root
from retrieval.language.tokens import split_units, split_words
from retrieval.language.years import YearSpan
from workflows.agents.brief.units import Unit, UnitKind, count_words
from workflows.checks.polarity import NEGATIONS

MEANING, WORDS, PASSAGE_MEANING, PASSAGE_SCORE = 1.0, 0.5, 0.5, 0.3
"""The weights, where meanings are known; fitted on the build halves of `bench.brief`."""
AROUND = 0.3
"""What the words of a unit's neighbours count beside its own, without meanings."""
CONTINUED = 3
"""The best units that are quoted with what follows them: what is asked is often said in one sentence and answered in the next."""
OTHER_YEARS = 0.7
"""What the score of a unit counts whose source is too old for the years asked about, or too young for a time before them."""
OTHER_AUTHORS = 0.8
"""What the score of a unit counts whose source is by somebody else than the question names, where it names authors of others."""
FADED = 0.5
"""The share of the best score below which a unit is beside the point."""
DENIALS = NEGATIONS | frozenset("不没無无未非莫勿別别")
SAME = 0.7
"""The share of the shorter text's words that another must have to say the same."""


@dataclass(frozen=True, slots=True)
class RankedUnit:
    """A unit and how well it serves the question; scores of one ranking compare with each other only."""

    unit: Unit
    score: float


@dataclass(frozen=True, slots=True)
class Saying:
    """The words of a unit, and those that set it apart: its figures, names and negations, and the first cell of a row."""

    words: frozenset[str]
    apart: frozenset[str]

    def says_the_same(self, other: "Saying") -> bool:
        """Say whether two units share most words and none sets them apart."""
        least = SAME * min(len(self.words), len(other.words))
        return len(self.words & other.words) >= least and self.apart == other.apart


@dataclass(frozen=True, slots=True)
class Meanings:
    """The cosines of a question with the texts of units, by text, and with passages, by key."""

    units: Mapping[str, float]
    passages: Mapping[str, float]


def rank_units(question: str, units: Sequence[Unit], meanings: Meanings | None = None) -> list[RankedUnit]:
    """Rank units, best first. Without `meanings` words alone decide."""
    shares = share_words(question, units)
    scores = _add_meanings(units, shares, meanings) if meanings else _add_neighbours(units, shares)
    ranked = [RankedUnit(unit, score) for unit, score in zip(units, scores, strict=True)]
    return sorted(ranked, key=lambda each: (-each.score, each.unit.place))


def share_words(question: str, units: Sequence[Unit]) -> list[float]:
    """Return for each unit which share of the question's words it holds; a word counts the more, the fewer units have it."""
    held = [words_of(unit.in_context) for unit in units]
    spread = Counter(word for words in held for word in words)
    weights = {word: log(1 + len(units) / (1 + spread[word])) for word in words_of(question)}
    total = sum(weights.values()) or 1.0
    return [sum(weight for word, weight in weights.items() if word in words) / total for words in held]


def words_of(text: str) -> frozenset[str]:
    """Return the roots of a text's words without stop words; of Chinese, ideographs and their pairs."""
    words = [word.text for word in split_words(text) if word.stem]
    return frozenset((*map(find_root, words), *filter(is_ideograph, "".join(words))))


def _add_meanings(units: Sequence[Unit], shares: Sequence[float], meanings: Meanings) -> list[float]:
    return [
        MEANING * meanings.units[unit.text]
        + WORDS * share
        + PASSAGE_MEANING * meanings.passages[unit.passage.key]
        + PASSAGE_SCORE * unit.passage.score
        for unit, share in zip(units, shares, strict=True)
    ]


def _add_neighbours(units: Sequence[Unit], shares: Sequence[float]) -> list[float]:
    """Add to each unit's own words those of the units beside it in its passage, and its passage's score."""
    around = []
    for at, unit in enumerate(units):
        beside = [i for i in (at - 1, at + 1) if 0 <= i < len(units) and units[i].passage.key == unit.passage.key]
        around.append(max((shares[i] for i in beside), default=0.0))
    return [
        own + AROUND * other + PASSAGE_SCORE * unit.passage.score for unit, own, other in zip(units, shares, around, strict=True)
    ]


def prefer_years(ranked: Sequence[RankedUnit], years: YearSpan) -> list[RankedUnit]:
    """Rank anew: units of a source that hardly tells of the years asked about, by its date, count less."""
    return _lower(ranked, OTHER_YEARS, lambda unit: _is_dated_outside(unit, years))


def prefer_authors(ranked: Sequence[RankedUnit], question: str) -> list[RankedUnit]:
    """Rank anew: where the question names authors of some sources, units of the others count less."""
    asked = words_of(" ".join(find_names(question)))
    named = {author for author in {each.unit.passage.source.author for each in ranked} if asked & words_of(author)}
    return _lower(ranked, OTHER_AUTHORS, lambda unit: unit.passage.source.author not in named) if named else [*ranked]


def _lower(ranked: Sequence[RankedUnit], factor: float, is_lower: Callable[[Unit], bool]) -> list[RankedUnit]:
    scored = [replace(each, score=factor * each.score) if is_lower(each.unit) else each for each in ranked]
    return sorted(scored, key=lambda each: -each.score)


def _is_dated_outside(unit: Unit, years: YearSpan) -> bool:
    """Say whether a source is older than the years asked about, which it cannot know; or younger than "before 1900"."""
    published = unit.passage.source.published
    if published is None:
        return False
    return published.year < years.first if years.first else years.last is not None and published.year > years.last


def read_saying(unit: Unit) -> Saying:
    """Read what a unit says, for comparison with others."""
    words = frozenset(split_units(unit.text.lower()))
    apart = {word for word in words if word[0].isdigit()} | (words & DENIALS) | find_names(unit.text)
    first = {unit.text.partition(CELL)[0]} if unit.kind is UnitKind.ROW else set()
    return Saying(words, frozenset(apart | first))


def choose_units(ranked: Sequence[RankedUnit], words: float) -> list[RankedUnit]:
    """Choose the best units up to a number of words.

    What a unit needs before it comes with it, and after the very best ones what follows them. What says the same as another, or
    is far from the best, is left out.
    """
    least = FADED * ranked[0].score if ranked else 0.0
    following = _map_following(ranked)
    chosen: dict[tuple[str, int, int], RankedUnit] = {}
    said: list[Saying] = []
    left = words
    for each in ranked:
        if left <= 0 or each.score < least or each.score <= 0:
            break
        own = read_saying(each.unit)
        if each.unit.place in chosen or any(map(own.says_the_same, said)):
            continue
        after = following.get(each.unit.place) if len(said) < CONTINUED else None
        for unit in filter(None, (each.unit.before, each.unit, after)):
            if unit.place not in chosen:
                chosen[unit.place] = RankedUnit(unit, each.score)
                left -= count_words(unit.text)
        said.append(own)
    return list(chosen.values())


def _map_following(ranked: Sequence[RankedUnit]) -> dict[tuple[str, int, int], Unit]:
    """Map the place of each unit to the unit that follows it in its passage."""
    ordered = sorted((each.unit for each in ranked), key=lambda unit: (unit.passage.key, unit.start))
    return {unit.place: after for unit, after in pairwise(ordered) if unit.passage.key == after.passage.key}
