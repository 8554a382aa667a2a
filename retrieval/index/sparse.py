"""BM25 as sparse vectors: term weights here, inverse document frequency in the index.

The engine's own BM25 does the English part (word tokens, folded accents, Snowball stems). Chinese, which it
would take a clause at a time, is first written as overlapping pairs of characters.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

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


class SparseEncoder:
    """BM25 weights for passages and queries of one collection.

    `average_length` is the collection's mean number of content words in a passage, `average_window` that in a passage with its
    neighbours; BM25 normalises by them.
    """

    def __init__(self, average_length: float, average_window: float = 0.0) -> None:
        self._bm25 = _make_bm25(average_length)
        self._window = _make_bm25(average_window)

    def weigh_passage(self, text: str, window: str = "") -> SparseVector:
        """Weigh a passage for storage: the mean of its own weights and those of `window`, the passage with its neighbours.

        A question's words are often spread over a document, so that a passage is also found by the text around it
        (docs/retrieval.md). Without `window` the weights are the passage's own.
        """
        own = self._bm25.embed_document(prepare_tokens(text))
        if not window:
            return SparseVector(own.indices, own.values)
        around = self._window.embed_document(prepare_tokens(window))
        weights = dict(zip(around.indices, (value / 2 for value in around.values), strict=True))
        for index, value in zip(own.indices, own.values, strict=True):
            weights[index] = weights.get(index, 0.0) + value / 2
        return SparseVector(list(weights), list(weights.values()))

    def weigh_query(self, text: str) -> SparseVector:
        """Weigh a query: one weight for each distinct term; none where the text has only stop words, of whichever language."""
        vector = self._bm25.embed_query(prepare_tokens(drop_small_words(text)))
        return SparseVector(vector.indices, vector.values)


def _make_bm25(length: float) -> Bm25:
    return Bm25(Bm25Config(k=SATURATION, b=LENGTH_WEIGHT, avg_len=max(1.0, length), language="english", ascii_folding=True))


def prepare_tokens(text: str) -> str:
    """Return the text in compatibility form, each run of ideographs written in simplified ones, as pairs and one by one."""
    return _IDEOGRAPHS.sub(_write_terms, simplify(unicodedata.normalize("NFKC", text)))


def _write_terms(run: re.Match[str]) -> str:
    text = run.group()
    single = filter(is_ideograph, text) if len(text) > 1 else ()
    return f" {' '.join((*split_pairs(text), *single))} "


def average_length_of(texts: Iterable[str]) -> float:
    """Return the mean number of content words in `texts`; 0.0 when there are none."""
    total = count = 0
    for text in texts:
        count += 1
        total += len(_WORD.findall(_STOPWORDS.sub(" ", prepare_tokens(text).lower())))
    return total / count if count else 0.0
