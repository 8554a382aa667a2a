"""Ranking the units of passages by a question, by meaning, by words, and by how well their passages were found.

A cosine of two sentences says more about what both are about than the words that they share; a name or a number says more than
a cosine. So both count. A passage's cosine and the score that the search gave it count for all of its units. Where a model has
read the best units and passages together with the question, its ratings are added.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from math import log

from app.domain.evidence import Passage
from app.domain.script import list_ideographs
from retrieval.language.english import drop_small_words
from retrieval.language.names import find_names
from retrieval.language.stems import find_root
from retrieval.language.tokens import split_words
from retrieval.language.years import YearSpan, remove_years
from workflows.agents.brief.units import Unit

MEANING, WORDS, PASSAGE_MEANING, PASSAGE_SCORE = 1.0, 0.5, 0.5, 0.3
"""The weights, where meanings are known; fitted on the build halves of `bench.brief`."""
RATING = 0.5
"""The weight of a unit's rating, and of its passage's.

Fitted on documents that strangers wrote: more is better for questions with one answer, and loses what lists and comparisons need.
"""
RATED_UNITS, RATED_PASSAGES = 30, 15
AROUND = 0.3
"""What the words of a unit's neighbours count beside its own, without meanings."""
OTHER_YEARS = 0.7
"""What the score of a unit counts whose source is too old for the years asked about, or too young for a time before them."""
OTHER_AUTHORS = 0.8
"""What the score of a unit counts whose source is by somebody else than the question names, where it names authors of others."""


@dataclass(frozen=True, slots=True)
class RankedUnit:
    """A unit and how well it serves the question; scores of one ranking compare with each other only.

    `rating` is how well it answers by a model's reading, 0 to 1; 0 where none has read it.
    """

    unit: Unit
    score: float
    rating: float = 0.0


@dataclass(frozen=True, slots=True)
class Ratings:
    """How well units, by their texts in context, and passages, by key, answer the question, 0 to 1; only the best are rated."""

    units: Mapping[str, float]
    passages: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Meanings:
    """The cosines of a question with units, by their texts in context, and with passages, by key."""

    units: Mapping[str, float]
    passages: Mapping[str, float]


def rank_units(question: str, units: Sequence[Unit], meanings: Meanings | None = None) -> list[RankedUnit]:
    """Rank units, best first. Without `meanings` words alone decide."""
    shares = share_words(question, units)
    scores = _add_meanings(units, shares, meanings) if meanings else _add_neighbours(units, shares)
    ranked = [RankedUnit(unit, score) for unit, score in zip(units, scores, strict=True)]
    return sorted(ranked, key=lambda each: (-each.score, each.unit.place))


def list_rated(ranked: Sequence[RankedUnit]) -> tuple[list[str], dict[str, str]]:
    """Return what a model shall read: the best units, by their texts in context, and the best passages, by key."""
    units = dict.fromkeys(each.unit.in_context for each in ranked[:RATED_UNITS])
    passages = {each.unit.passage.key: title_and_text(each.unit.passage) for each in ranked}
    return list(units), dict(islice(passages.items(), RATED_PASSAGES))


def add_ratings(ranked: Sequence[RankedUnit], ratings: Ratings) -> list[RankedUnit]:
    """Rank anew with the ratings; what was not rated counts like the worst that was."""
    worst_unit, worst_passage = min(ratings.units.values()), min(ratings.passages.values())
    scored = []
    for each in ranked:
        rating = ratings.units.get(each.unit.in_context, worst_unit)
        around = ratings.passages.get(each.unit.passage.key, worst_passage)
        scored.append(replace(each, score=each.score + RATING * (rating + around), rating=rating))
    return sorted(scored, key=lambda each: (-each.score, each.unit.place))


def title_and_text(passage: Passage) -> str:
    """Return what stands for a passage where it is compared or rated as a whole."""
    return f"{passage.source.title}\n{passage.text}"


def strip_sources(question: str, units: Sequence[Unit]) -> str:
    """Return a question without the years and the authors that it names: they say which sources are meant, not what is asked."""
    named = find_authors(question, {unit.passage.source.author for unit in units})
    names = frozenset().union(*map(words_of, named))
    return " ".join(word for word in remove_years(question).split() if not words_of(word) & names) or question


def share_words(question: str, units: Sequence[Unit]) -> list[float]:
    """Return for each unit which share of the question's words it holds; a word counts the more, the fewer units have it."""
    held = [words_of(unit.in_context) for unit in units]
    spread = Counter(word for words in held for word in words)
    weights = {word: log(1 + len(units) / (1 + spread[word])) for word in words_of(drop_small_words(question))}
    total = sum(weights.values()) or 1.0
    return [sum(weight for word, weight in weights.items() if word in words) / total for words in held]


def words_of(text: str) -> frozenset[str]:
    """Return the roots of a text's words without stop words; of Chinese, ideographs and their pairs."""
    words = [word.text for word in split_words(text) if word.stem]
    return frozenset((*map(find_root, words), *list_ideographs("".join(words))))


def _add_meanings(units: Sequence[Unit], shares: Sequence[float], meanings: Meanings) -> list[float]:
    return [
        MEANING * meanings.units[unit.in_context]
        + WORDS * share
        + PASSAGE_MEANING * meanings.passages[unit.passage.key]
        + PASSAGE_SCORE * unit.passage.score
        for unit, share in zip(units, shares, strict=True)
    ]


def _add_neighbours(units: Sequence[Unit], shares: Sequence[float]) -> list[float]:
    """Add to each unit's own words those of the units beside it in its passage, and its passage's score."""
    around, keys = [], [unit.passage.key for unit in units]
    for at, key in enumerate(keys):
        beside = [i for i in (at - 1, at + 1) if 0 <= i < len(units) and keys[i] == key]
        around.append(max((shares[i] for i in beside), default=0.0))
    return [
        own + AROUND * other + PASSAGE_SCORE * unit.passage.score for unit, own, other in zip(units, shares, around, strict=True)
    ]


def prefer_years(ranked: Sequence[RankedUnit], years: YearSpan) -> list[RankedUnit]:
    """Rank anew: units of a source that hardly tells of the years asked about, by its date, count less."""
    return _lower(ranked, OTHER_YEARS, lambda unit: _is_dated_outside(unit, years))


def prefer_authors(ranked: Sequence[RankedUnit], question: str) -> list[RankedUnit]:
    """Rank anew: where the question names authors of some sources, units of the others count less, and theirs come by turns."""
    named = find_authors(question, {each.unit.passage.source.author for each in ranked})
    if not named:
        return [*ranked]
    lowered = _lower(ranked, OTHER_AUTHORS, lambda unit: unit.passage.source.author not in named)
    if len(named) == 1:
        return lowered
    by_author = [[each for each in lowered if each.unit.passage.source.author == author] for author in sorted(named)]
    by_turns = [each for turn in zip_longest(*by_author) for each in turn if each is not None]
    return by_turns + [each for each in lowered if each.unit.passage.source.author not in named]


def find_authors(question: str, authors: Iterable[str]) -> frozenset[str]:
    """Return the authors whom a question names; of two with the same surname, the one whose other name it has too."""
    asked = words_of(" ".join(find_names(question)))
    named = {author: own for author in authors if (own := asked & words_of(author))}
    return frozenset(author for author, own in named.items() if not any(own < other for other in named.values()))


def _lower(ranked: Sequence[RankedUnit], factor: float, is_lower: Callable[[Unit], bool]) -> list[RankedUnit]:
    scored = [replace(each, score=factor * each.score) if is_lower(each.unit) else each for each in ranked]
    return sorted(scored, key=lambda each: -each.score)


def _is_dated_outside(unit: Unit, years: YearSpan) -> bool:
    """Say whether a source is older than the years asked about, which it cannot know; or younger than "before 1900"."""
    published = unit.passage.source.published
    if published is None:
        return False
    return published.year < years.first if years.first else years.last is not None and published.year > years.last
