"""What the finder of orders to a machine reads in a sentence: its words, their pieces, and the words around it.

A sentence is known by its n-grams of words and marks, by pieces of its words where its script has letters, and by the words of
its surroundings, because "leave out the prices" is an order to cooks in a recipe. What is quoted counts as words of its own,
because who quotes an order gives none. The fitter (`bench.fit_injection`) and the finder use this module, so both read alike.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from retrieval.language.english import is_english
from retrieval.language.traditional import simplify

SENTENCE_CHARS = 600
AROUND_CHARS = 500
MOST_NEAR = 12
"""A sentence's surroundings: so many characters, and at most so many sentences, before and after it."""
FEWEST_WORDS = 3
"""A shorter sentence orders nothing that could be told apart; it counts as surroundings of others."""
PIECES = range(3, 6)
LONG_WORD = 5
"""Words of fewer letters are not cut into pieces: "this" says what it says once."""
KEPT_WORDS = 4_096
QUOTE = "»"
"""Stands before a word that is quoted."""
IDEOGRAPH_SHARE = 0.2
"""The share of a text's letters that are ideographs or kana from which on it is read by the model of such scripts."""
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_UNIT = re.compile(rf"(?:https?://|www\.)[^\s<>()\"'\]]+|[{_CJK}]|[^\W\d_{_CJK}]+|\d+|[^\w\s]")
_IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_LETTER = re.compile(r"[^\W\d_]")
_PAIRS = (('"', '"'), ("“", "”"), ("„", "“”"), ("«", "»"), ("»", "«"), ("「", "」"), ("『", "』"), ("‹", "›"))
_QUOTED = re.compile(
    "|".join(("```[^`]{1,2000}```", "`[^`\n]{1,400}`", *(f"{begin}[^{begin}{end}\n]{{1,400}}[{end}]" for begin, end in _PAIRS)))
)
_WRAPPED = r"[^\S\n]*[a-zа-яёії\u00df-\u00ff\u03ac-\u03ce]"
"""A line that begins with a small letter goes on with the sentence of the line before it."""
_END = re.compile(rf"[。！？؟]|\n(?!{_WRAPPED})|[.!?](?=[\s\"”»<]|$)")


class Writing(StrEnum):
    """How a text is written, by which its sentences are read: `LETTERS` are languages with letters other than English."""

    ENGLISH = "english"
    LETTERS = "letters"
    IDEOGRAPHS = "ideographs"


LONGEST = {Writing.ENGLISH: 3, Writing.LETTERS: 3, Writing.IDEOGRAPHS: 4}
LONGEST_AROUND = {Writing.ENGLISH: 1, Writing.LETTERS: 1, Writing.IDEOGRAPHS: 2}
"""The longest n-grams, in words, of a sentence and of its surroundings; an ideograph is a word."""


class SentenceGrams(NamedTuple):
    """A sentence `[start, end)` of a text, and three sets of n-grams: of its words, of their pieces, of its surroundings.

    The pieces are those of its `cut` words; they are many, and seldom needed to see that a sentence orders nothing.
    """

    start: int
    end: int
    words: frozenset[str]
    cut: frozenset[str]
    around: frozenset[str]

    @property
    def pieces(self) -> frozenset[str]:
        """The pieces of its words."""
        return frozenset().union(*map(pieces_of, self.cut))

    @property
    def sets(self) -> tuple[frozenset[str], ...]:
        """The sets, each of which counts alike whatever its size."""
        return self.words, self.pieces, self.around

    def count_words(self) -> int:
        """Return the number of different words."""
        return sum(map(str.isalnum, self.words))


def writing_of(plain: str) -> Writing:
    """Tell how a text is written."""
    ideographs = len(_IDEOGRAPH.findall(plain))
    if ideographs and ideographs > IDEOGRAPH_SHARE * len(_LETTER.findall(plain)):
        return Writing.IDEOGRAPHS
    return Writing.ENGLISH if is_english(plain) else Writing.LETTERS


def read_sentences(plain: str, writing: Writing) -> Iterator[SentenceGrams]:
    """Read the sentences of a plain text (`plain_letters.to_plain`), in order; a long text has millions of n-grams."""
    folded = simplify(plain)
    plain = folded if len(folded) == len(plain) else plain
    quoted = _mark_quoted(plain)
    spans = [(start, end) for start, end in split_sentences(plain) if plain[start:end].strip()]
    units = [_split_units(plain, start, end, quoted) for start, end in spans]
    around = [_join_grams(each, LONGEST_AROUND[writing], "~") for each in units]
    for at, ((start, end), own) in enumerate(zip(spans, units, strict=True)):
        if sum([unit.lstrip(QUOTE).isalnum() for unit in own]) < FEWEST_WORDS:
            continue
        cut = frozenset() if writing is Writing.IDEOGRAPHS else frozenset(own)
        near = frozenset().union(*(around[other] for other in _find_near(spans, at)))
        yield SentenceGrams(start, end, _join_grams(own, LONGEST[writing], ""), cut, near)


def split_sentences(plain: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence begins and ends; a long one comes in pieces that overlap."""
    start = 0
    for end in (*(found.end() for found in _END.finditer(plain)), len(plain)):
        for at in range(start, end, SENTENCE_CHARS):
            yield at, min(end, at + 2 * SENTENCE_CHARS)
        start = end


def _find_near(spans: Sequence[tuple[int, int]], at: int) -> Iterator[int]:
    """Yield the numbers of the other sentences near one."""
    start, end = spans[at]
    for other in range(max(0, at - MOST_NEAR), min(len(spans), at + MOST_NEAR + 1)):
        if other != at and spans[other][1] > start - AROUND_CHARS and spans[other][0] < end + AROUND_CHARS:
            yield other


def _mark_quoted(plain: str) -> bytearray:
    """Return 1 for each character between quotation marks or in code, 0 for the others."""
    marks = bytearray(len(plain))
    for found in _QUOTED.finditer(plain):
        marks[found.start() : found.end()] = b"\1" * (found.end() - found.start())
    return marks


def _split_units(plain: str, start: int, end: int, quoted: bytearray) -> list[str]:
    """Return the words and marks of a sentence, each marked if it is quoted; an ideograph is a word."""
    if 1 not in quoted[start:end]:
        return [*map(_fold_unit, _UNIT.findall(plain, start, end))]
    return [QUOTE * quoted[found.start()] + _fold_unit(found.group()) for found in _UNIT.finditer(plain, start, end)]


@lru_cache(KEPT_WORDS)
def _fold_unit(unit: str) -> str:
    """Return a number as 0 and an address as URL: which one it is says nothing."""
    return "0" if unit.isdigit() else "URL" if "://" in unit or unit.startswith("www.") else unit


def _join_grams(units: Sequence[str], longest: int, mark: str) -> frozenset[str]:
    runs = (zip(*(units[start:] for start in range(size)), strict=False) for size in range(2, longest + 1))
    grams = set(units).union(*(map(" ".join, run) for run in runs))
    return frozenset(map(mark.__add__, grams) if mark else grams)


@lru_cache(KEPT_WORDS)
def pieces_of(unit: str) -> tuple[str, ...]:
    """Return the pieces of a long word, with its edges."""
    if len(unit) < LONG_WORD or not unit.isalpha():
        return ()
    word = f"_{unit}_"
    return tuple([word[at : at + size] for size in PIECES for at in range(len(word) - size + 1)])
