"""The sentences of a passage that stand for a statement which cites it.

An agent cites passages; its reader gets exact words. They are chosen after writing, by what the statement says: the stretch of up
to three sentences that has most of its words, where a name, a number and a word that is rare in the passage count most; then
further stretches for what of the statement stands elsewhere in the passage. A stretch whose first words stand for something named
before begins a sentence earlier.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import sqrt
from typing import NamedTuple

from app.domain.evidence import Passage, Quote
from app.domain.script import has_ideographs
from retrieval.language.back_references import points_back
from retrieval.language.paragraphs import Span
from retrieval.language.sentences import CELL, split_sentences
from retrieval.language.tokens import split_words

MOST_QUOTES, MOST_SENTENCES = 3, 3
MIN_CHARS, MAX_CHARS = 30, 700
QUOTE_CHARS = 1_200
"""Where a quotation is cut: old prose has sentences that are longer than a stretch of several may be."""
FURTHER, APART = 1.0, 2.0
"""What a further sentence has to add, next to the others or apart: 1 is a word that stands nowhere else in the passage."""
TELLING = 2.0
"""The weight of a name or a number beside that of another word."""
KEPT_PASSAGES = 64
"""The passages whose sentences are remembered, some 20 KB each: findings and then the report cite the same ones often."""
Window = tuple[int, int]
_TELLING = re.compile(r"\S*[\dA-Z]\S*")


def choose_quotes(passage: Passage, statement: str, known: Sequence[Quote] = ()) -> list[Quote]:
    """Return the words of the passage that stand for the statement, those that say most of it first.

    Where they share no word, as in two languages, that is the first of the quotes that are `known` to be in the passage, else its
    beginning.
    """
    read = _read_passage(passage.text)
    chosen = _cover(read.windows, read.terms, _weigh_terms(statement, read.sentences_with))
    if not chosen and known:
        return [known[0]]
    quoted = {number for window in chosen for number in range(*window)}
    begins = {window: find_beginning(passage.text, read.spans, window[0]) for window in chosen}
    clear = [(begins[w] if begins[w] not in quoted else w[0], w[1]) for w in chosen]
    return [
        quote_span(passage, Span(read.spans[first].start, read.spans[end - 1].end)) for first, end in clear or read.windows[:1]
    ]


def find_beginning(text: str, spans: Sequence[Span], first: int) -> int:
    """Return the number of the sentence with which a quotation begins so that the words of sentence `first` are understood."""
    start, end = spans[first]
    if first == 0 or not points_back(text[start:end]) or end - spans[first - 1].start > QUOTE_CHARS:
        return first
    return first - 1


def quote_span(passage: Passage, span: Span) -> Quote:
    """Return a stretch of a passage, counted in its text, as a quotation of its source."""
    return passage.make_quote(span.start, min(span.end, span.start + QUOTE_CHARS))


class _ReadPassage(NamedTuple):
    """A passage's sentences, the terms of each, how many of them have a term, and the stretches that can stand alone."""

    spans: Sequence[Span]
    terms: Sequence[frozenset[str]]
    sentences_with: Mapping[str, int]
    windows: Sequence[Window]


@lru_cache(maxsize=KEPT_PASSAGES)
def _read_passage(text: str) -> _ReadPassage:
    spans = tuple(split_sentences(text)) or (Span(0, len(text)),)
    terms = tuple(frozenset(_list_terms(text[start:end])) for start, end in spans)
    windows = tuple(_list_windows(text, spans)) or ((0, 1),)
    return _ReadPassage(spans, terms, Counter(chain.from_iterable(terms)), windows)


def _cover(windows: Sequence[Window], terms: Sequence[frozenset[str]], weights: Mapping[str, float]) -> list[Window]:
    """Choose stretches until no other adds enough. Empty where none shares a word with the statement."""
    left, chosen = dict(weights), list[Window]()
    shared = [own.intersection(weights) for own in terms]
    sharing = [window for window in windows if any(shared[slice(*window)])]
    while len(chosen) < MOST_QUOTES:
        apart = [w for w in sharing if all(w[1] <= first or end <= w[0] for first, end in chosen)]
        scores = {window: _score(shared[slice(*window)], left) for window in apart}
        best = max(apart, key=lambda window: scores[window], default=None)
        if best is None or scores[best] <= 0 or (chosen and scores[best] < APART):
            return chosen
        chosen.append(best)
        for term in frozenset().union(*shared[slice(*best)]):
            left.pop(term, None)
    return chosen


def _list_windows(text: str, spans: Sequence[Span]) -> Iterator[Window]:
    """List the stretches of sentences that can stand alone, shorter ones first."""
    for length in range(1, MOST_SENTENCES + 1):
        for first in range(len(spans) - length + 1):
            if _is_fit(text[spans[first].start : spans[first + length - 1].end], length):
                yield first, first + length


def _is_fit(words: str, sentences: int) -> bool:
    """Say whether these words may stand alone: a row may at any length, and ideographs say more than letters."""
    weight = 3 if has_ideographs(words[:8]) else 1
    return (CELL in words or len(words) * weight >= MIN_CHARS) and (sentences == 1 or len(words) <= MAX_CHARS)


def _score(sentences: Sequence[frozenset[str]], weights: Mapping[str, float]) -> float:
    shared = frozenset().union(*sentences) & weights.keys()
    return sum(weights[term] for term in shared) - FURTHER * (len(sentences) - 1) if shared else 0.0


def _weigh_terms(statement: str, sentences_with: Mapping[str, int]) -> dict[str, float]:
    """Return the weight of each term of the statement that the passage has."""
    telling = {word.text for word in split_words(" ".join(_TELLING.findall(statement)))}
    return {
        word.stem: (TELLING if word.text in telling else 1.0) / sqrt(sentences_with[word.stem])
        for word in split_words(statement)
        if word.stem in sentences_with
    }


def _list_terms(text: str) -> Iterator[str]:
    return (word.stem for word in split_words(text) if word.stem)
