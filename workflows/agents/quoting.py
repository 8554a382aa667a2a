"""Finding the words that a model quotes in a passage. White space, quotation marks, dashes and case may differ.

The result is always the source's own text with its offsets in the snapshot, or None when the words are not there.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from typing import NamedTuple

from app.domain.evidence import Passage, Quote
from app.domain.script import is_ideograph
from retrieval.language.sentences import split_sentences
from retrieval.untrusted.invisible import INVISIBLE

MIN_CHARS = 24
MIN_IDEOGRAPHS = 8
MAX_CHARS = 900
MAX_GAP = 400
MIN_SAID = 8
MAX_SAID = 3_000
_WORD = re.compile(f"[^\\s{INVISIBLE}]+")
_ALIKE = str.maketrans(
    {
        **dict.fromkeys("“”„«»‟″＂", '"'),
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
        **dict.fromkeys("‹＜[(（【", "<"),  # a source is shown with the first for each of these
        "，": ",",
        "；": ";",
        "：": ":",
        "）": ")",
        "…": ".",
    }
)
_ELLIPSIS = re.compile(r"\s*(?:\[?\s*(?:\.\s?){3,}\s*\]?|\[?…+\]?)\s*")
_EDGES = " \t\n\"'“”‘’`«»*_.,;:"


class TextSpan(NamedTuple):
    """A stretch `[start, end)` of a text."""

    start: int
    end: int


def quote_from(passage: Passage, said: str) -> Quote | None:
    """Return the quotation of `passage` that a model wrote as `said`, or None when the passage does not contain it.

    A quotation that is too short to carry a statement grows to its sentence; one that is too long is cut after a sentence.
    """
    found = locate_quote(passage.text, said)
    if found is None:
        return None
    start, end = _make_readable(passage.text, found)
    return passage.make_quote(start, end)


def locate_quote(text: str, said: str) -> TextSpan | None:
    """Find where `text` says `said`, which must have at least 8 characters (4 ideographs).

    An ellipsis in `said` may leave out up to 400 characters. A letter with an accent may be one character in one text and two in
    the other.
    """
    said = said.strip()[:MAX_SAID]
    if sum(1 + 2 * is_ideograph(c) for c in said[:MIN_SAID]) < MIN_SAID:
        return None  # a word or two stand anywhere
    composed, apart = unicodedata.normalize("NFC", said), unicodedata.normalize("NFD", said)
    spellings = dict.fromkeys((said, composed, apart))
    return next((span for spelling in spellings if (span := _locate_spelling(text, spelling))), None)


def _locate_spelling(text: str, said: str) -> TextSpan | None:
    at = text.find(said)
    if at >= 0:
        return TextSpan(at, at + len(said))
    pieces = [p for p in (piece.strip(_EDGES) for piece in _ELLIPSIS.split(said)) if p]
    spans: list[TextSpan] = []
    for piece in pieces:
        span = _locate_folded(text, piece, spans[-1].end if spans else 0)
        if span is None or (spans and span.start - spans[-1].end > MAX_GAP):
            return None
        spans.append(span)
    return TextSpan(spans[0].start, spans[-1].end) if spans else None


class _FoldedText(NamedTuple):
    """A text with single spaces and one form for similar characters; `starts` maps each word back to its offset."""

    text: str
    at: tuple[int, ...]
    starts: tuple[int, ...]


def _fold_text(text: str) -> _FoldedText:
    pieces: list[str] = []
    at: list[int] = []
    starts: list[int] = []
    length = end = 0
    for word in _WORD.finditer(text):
        if pieces and any(c.isspace() for c in text[end : word.start()]):
            pieces.append(" ")
            length += 1
        at.append(length)
        starts.append(word.start())
        pieces.append(_fold_word(word.group()))
        length += len(pieces[-1])
        end = word.end()
    return _FoldedText("".join(pieces), tuple(at), tuple(starts))


def _fold_word(word: str) -> str:
    """Fold a word to the same length, so that offsets inside the word stay right."""
    like = word.translate(_ALIKE)
    lower = like.lower()
    return lower if len(lower) == len(like) else like


def _locate_folded(text: str, said: str, after: int) -> TextSpan | None:
    """Find the first place of `said`, searching from the first word that begins at or after `after`."""
    folded, wanted = _fold_text(text), _fold_text(said).text
    word = bisect_left(folded.starts, after)
    found = folded.text.find(wanted, folded.at[word]) if wanted and word < len(folded.at) else -1
    if found < 0:
        return None
    return TextSpan(_original_offset_of(folded, found), _original_offset_of(folded, found + len(wanted) - 1) + 1)


def _original_offset_of(folded: _FoldedText, offset: int) -> int:
    word = bisect_right(folded.at, offset) - 1
    return folded.starts[word] + offset - folded.at[word]


def _make_readable(text: str, span: TextSpan) -> TextSpan:
    if span.end - span.start > MAX_CHARS:
        ends = [s.end for s in split_sentences(text[span.start : span.end]) if s.end <= MAX_CHARS]
        return TextSpan(span.start, span.start + (ends[-1] if ends else MAX_CHARS))
    if _is_substantial(text[span.start : span.end]):
        return span
    around = [s for s in split_sentences(text) if s.start < span.end and s.end > span.start]
    return TextSpan(min(span.start, around[0].start), max(span.end, around[-1].end)) if around else span


def _is_substantial(text: str) -> bool:
    return len(text) >= MIN_CHARS or sum(map(is_ideograph, text)) >= MIN_IDEOGRAPHS
