"""BM25 as sparse vectors: term weights here, inverse document frequency in the index.

The engine's own BM25 finds the terms (word tokens, folded accents, Snowball stems) of each text once; the weights are
made here from their counts, because a passage counts with its neighbours. Chinese, which the engine
would take a clause at a time, is first written as overlapping pairs of characters.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from qdrant_edge import Bm25, Bm25Config

from app.domain.script import IDEOGRAPHS, is_ideograph
from retrieval.language.english import drop_small_words
from retrieval.language.tokens import split_pairs
from retrieval.language.traditional import simplify

RECIPE = "bm25-en-cjk12-v4"
"""Names everything that fixes the weights; an index made by another recipe is built anew."""

SATURATION = 0.9
LENGTH_WEIGHT = 0.4
"""BM25's k1 and b, as search engines for passages have them: passages are of much the same length."""
COUNTING = 100.0
"""The k1 with which the engine only counts: from its weights in 32-bit floats, counts of many thousands can be told."""
BLOCK = 256
"""The passages that are weighed together: their table of counts, with a column for each of their terms, takes about 20 MB."""
_IDEOGRAPHS = re.compile(rf"[\u3040-\u30ff{IDEOGRAPHS}]+")
_WORD = re.compile(r"\w+")
_STOPWORDS = re.compile(
    r"\b(?:the|of|and|to|in|an?|is|that|for|it|as|was|with|be|by|on|not|his|he|but|at|are|this|have|from|or|had|they|which|has|were"
    r"|been|its|their|our)\b"
)


class SparseVector(NamedTuple):
    """Term numbers and their weights, of equal length."""

    indices: list[int]
    values: list[float]


class _TermCounts(NamedTuple):
    """Term numbers and how often a text has each, of equal length."""

    terms: NDArray[np.int64]
    counts: NDArray[np.float64]


class SparseEncoder:
    """BM25 weights for passages and queries of one collection.

    `average_length` is the collection's mean number of content words in a passage, `average_window` that in a passage with its
    neighbours; BM25 normalises by them.
    """

    def __init__(self, average_length: float, average_window: float = 0.0) -> None:
        self._length, self._window = max(1.0, average_length), max(1.0, average_window)
        self._engine = Bm25(Bm25Config(k=COUNTING, b=0.0, avg_len=1.0, language="english", ascii_folding=True))

    def weigh_passages(self, title: str, texts: Sequence[str]) -> list[SparseVector]:
        """Weigh all passages of a document, in order, for storage; each is indexed with the document's title.

        Weights are the mean of a passage's own and those of its window, which adds the passages before and after it: a question's
        words are often spread over a document, so that a passage is also found by the text around it (docs/retrieval.md).
        """
        head, own = self._count_terms(title), [self._count_terms(text) for text in texts]
        blocks = range(0, len(own), BLOCK)
        return [vector for start in blocks for vector in self._weigh_block(head, own, start, min(start + BLOCK, len(own)))]

    def weigh_query(self, text: str) -> SparseVector:
        """Weigh a query: one weight for each distinct term; none where the text has only stop words, of whichever language."""
        vector = self._engine.embed_query(prepare_tokens(drop_small_words(text)))
        return SparseVector(vector.indices, vector.values)

    def _count_terms(self, text: str) -> _TermCounts:
        """Count the terms of a text. The engine counts only within a weight, which here grows with the count alone."""
        vector = self._engine.embed_document(prepare_tokens(text))
        weights = np.array(vector.values)
        return _TermCounts(np.array(vector.indices, np.int64), np.rint(COUNTING * weights / (COUNTING + 1 - weights)))

    def _weigh_block(self, head: _TermCounts, own: Sequence[_TermCounts], start: int, end: int) -> Iterator[SparseVector]:
        """Weigh the passages `own[start:end]`, counted in a table with a row for each of them, and one for either neighbour."""
        known = {row: own[place] for row, place in enumerate(range(start - 1, end + 1)) if 0 <= place < len(own)}
        terms, columns = np.unique(np.concatenate([head.terms, *(each.terms for each in known.values())]), return_inverse=True)
        table = np.zeros((end - start + 2, len(terms)))
        of_head, *of_passages = np.split(
            columns, np.cumsum([len(head.terms), *(len(each.terms) for each in known.values())])[:-1]
        )
        for (row, each), places in zip(known.items(), of_passages, strict=True):
            table[row, places] = each.counts
        alone = table[1:-1].copy()
        alone[:, of_head] += head.counts
        around = alone + table[:-2] + table[2:]
        weights = (_saturate(alone, self._length) + _saturate(around, self._window)) / 2
        for row, there in zip(weights, around > 0, strict=True):
            yield SparseVector(terms[there].tolist(), row[there].tolist())


def _saturate(counts: NDArray[np.float64], average: float) -> NDArray[np.float64]:
    """Return BM25's weights of term counts, a passage a row."""
    lengths = counts.sum(axis=1, keepdims=True)
    weights: NDArray[np.float64] = counts * (SATURATION + 1)
    weights /= counts + SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * lengths / average)
    return weights


def prepare_tokens(text: str) -> str:
    """Return the text in compatibility form, each run of ideographs written in simplified ones, as pairs and one by one."""
    if text.isascii():
        return text
    return _IDEOGRAPHS.sub(_write_terms, simplify(unicodedata.normalize("NFKC", text)))


def _write_terms(run: re.Match[str]) -> str:
    text = run.group()
    single = filter(is_ideograph, text) if len(text) > 1 else ()
    return f" {' '.join((*split_pairs(text), *single))} "


def count_content_words(text: str) -> int:
    """Count the words of a text that are no stop words; of ideographs, each and each pair."""
    return len(_WORD.findall(_STOPWORDS.sub(" ", prepare_tokens(text).lower())))


def average_lengths(documents: Iterable[tuple[str, Sequence[str]]]) -> tuple[float, float]:
    """Return the mean number of content words in a passage with its title, and with its neighbours too; 0.0 without passages.

    A document is its title and its passages.
    """
    own: list[int] = []
    around: list[int] = []
    for title, texts in documents:
        head, counts = count_content_words(title), [count_content_words(text) for text in texts]
        own.extend(head + count for count in counts)
        around.extend(head + sum(counts[max(0, place - 1) : place + 2]) for place in range(len(counts)))
    return (fmean(own), fmean(around)) if own else (0.0, 0.0)
