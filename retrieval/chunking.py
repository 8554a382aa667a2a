"""Cut a document into passages with exact character offsets.

A passage is about 160 English words or 240 Chinese characters (what a 256-token encoder takes in with a title), ends at a
paragraph where it can and at a sentence otherwise, and keeps a heading with what follows it. Passages do not overlap.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from retrieval.sentences import Span, is_ideograph, split_paragraphs, split_sentences_of

TARGET_CHARS = 960
"""Length aimed at, counting an ideograph as four characters: both scripts then fill the encoder's window alike."""
MAX_CHARS = 1_280
MIN_CHARS = 320
IDEOGRAPH_COST = 4
_HEADING_CHARS = 90


class _Unit(NamedTuple):
    """A sentence, or a piece of one that is far too long, and where it stands in its paragraph."""

    span: Span
    cost: int
    ends_paragraph: bool
    heading: bool


def split_passages(text: str) -> list[Span]:
    """The passages of `text`, in order. Only white space lies between them; an empty text has none."""
    passages: list[Span] = []
    current: list[_Unit] = []
    filled = 0
    for unit in _units(text):
        if current and _closes(current, filled, unit):
            passages.append(_joined(current))
            current, filled = [], 0
        current.append(unit)
        filled += unit.cost
    if current:
        passages.append(_joined(current))
    return _without_stub(text, passages)


def _closes(current: list[_Unit], filled: int, following: _Unit) -> bool:
    last = current[-1]
    if last.heading:
        return False
    if filled + following.cost > MAX_CHARS:
        return True
    if last.ends_paragraph and (filled >= TARGET_CHARS * 3 // 4 or (following.heading and filled >= MIN_CHARS)):
        return True
    return filled + following.cost > TARGET_CHARS and filled >= MIN_CHARS


def _joined(units: list[_Unit]) -> Span:
    return Span(units[0].span.start, units[-1].span.end)


def _without_stub(text: str, passages: list[Span]) -> list[Span]:
    """Join a very short last passage to the one before it."""
    if len(passages) > 1:
        before, last = passages[-2:]
        if (
            cost(text[last.start : last.end]) < MIN_CHARS // 2
            and cost(text[before.start : last.end]) <= MAX_CHARS + MIN_CHARS // 2
        ):
            return [*passages[:-2], Span(before.start, last.end)]
    return passages


def cost(text: str) -> int:
    """The length of `text` in characters, an ideograph counted as four."""
    if text.isascii():
        return len(text)
    return len(text) + (IDEOGRAPH_COST - 1) * sum(map(is_ideograph, text))


def _units(text: str) -> Iterator[_Unit]:
    for paragraph in split_paragraphs(text):
        sentences = split_sentences_of(text, paragraph)
        for number, sentence in enumerate(sentences, 1):
            last = number == len(sentences)
            pieces = list(_pieces(text, sentence))
            for piece in pieces:
                body = text[piece.start : piece.end]
                heading = len(sentences) == 1 and len(body) <= _HEADING_CHARS and body[-1] not in '.!?。！？;；"”'
                yield _Unit(piece, cost(body), last and piece is pieces[-1], heading)


def _pieces(text: str, sentence: Span) -> Iterable[Span]:
    """The sentence itself, or, where it exceeds any passage (tables, text without punctuation), cuts of it at white space."""
    if cost(text[sentence.start : sentence.end]) <= MAX_CHARS:
        yield sentence
        return
    start = sentence.start
    while start < sentence.end:
        stop = _cut(text, start, sentence.end)
        piece = text[start:stop]
        left = start + len(piece) - len(piece.lstrip())
        yield Span(left, left + len(piece.strip()))
        start = stop + len(text[stop : sentence.end]) - len(text[stop : sentence.end].lstrip())


def _cut(text: str, start: int, end: int) -> int:
    step = TARGET_CHARS // IDEOGRAPH_COST if cost(text[start : start + 100]) > 200 else TARGET_CHARS
    if start + step >= end:
        return end
    space = max(text.rfind(" ", start + step // 2, start + step), text.rfind("\n", start + step // 2, start + step))
    return space if space > start else start + step
