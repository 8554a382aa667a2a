"""Finding sentences that a report repeats in nearly the same words (MindDR Table 6: expression)."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.domain.script import is_ideograph
from workflows.checks.citation_format import split_off_sources
from workflows.checks.claims import claims_of
from workflows.checks.reading import ReadSentence, read_sentence

LEAST_LIKENESS = 0.8
"""The least share of common stems at which two sentences say the same."""
LEAST_STEMS = 6.0
"""Shorter sentences have too few words to compare. A pair of ideographs counts half, because pairs overlap."""


class RepeatedSentence(NamedTuple):
    """The sentence at `second` repeats the one at `first`; places count from 0. `likeness` is from 0.8 to 1."""

    first: int
    second: int
    likeness: float


def list_statements(markdown: str) -> list[str]:
    """Return the sentences of a report that state something, without headings, table heads, fragments and sources."""
    return [claim.text for claim in claims_of(split_off_sources(markdown).body)]


def find_repeats(sentences: Sequence[str]) -> list[RepeatedSentence]:
    """Return each sentence that repeats an earlier one, with the one it is most like. Other numbers make another sentence.

    Pairs are searched by the rarest stems alone: two sets that share four fifths of their stems share at least one of those.
    """
    read_ones = [read_sentence(sentence) for sentence in sentences]
    counts = Counter(stem for sentence in read_ones for stem in sentence.stem_set)
    by_stem: dict[str, list[int]] = defaultdict(list)
    found: list[RepeatedSentence] = []
    for place, sentence in enumerate(read_ones):
        if sum(0.5 if is_ideograph(stem[0]) else 1.0 for stem in sentence.stem_set) < LEAST_STEMS:
            continue
        rare = _rarest_of(sentence, counts)
        earlier = {other for stem in rare for other in by_stem[stem]}
        alike = [
            RepeatedSentence(other, place, likeness)
            for other, likeness in _measure_likeness(sentence, read_ones, earlier)
            if likeness >= LEAST_LIKENESS
        ]
        if alike:
            found.append(max(alike, key=lambda repeat: (repeat.likeness, -repeat.first)))
        for stem in rare:
            by_stem[stem].append(place)
    return found


def _rarest_of(sentence: ReadSentence, counts: Counter[str]) -> list[str]:
    """Return so many of the sentence's rarest stems that every similar sentence must share one of them."""
    stems = sorted(sentence.stem_set, key=lambda stem: (counts[stem], stem))
    return stems[: len(stems) - math.ceil(LEAST_LIKENESS * len(stems)) + 1]


def _measure_likeness(sentence: ReadSentence, others: Sequence[ReadSentence], places: set[int]) -> Iterator[tuple[int, float]]:
    for place in sorted(places):
        other = others[place]
        if sorted(sentence.numbers) == sorted(other.numbers):
            shared = len(sentence.stem_set & other.stem_set)
            yield place, shared / len(sentence.stem_set | other.stem_set)
