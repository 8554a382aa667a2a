"""Cut a document into passages with exact character offsets.

A passage is about 160 English words or 240 Chinese characters (what a 256-token encoder takes in with a title), ends at a
paragraph where it can and at a sentence otherwise, and keeps a heading with what follows it. Passages do not overlap.
"""

from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple

from app.domain.blocks import Block, BlockKind
from app.domain.script import count_ideographs
from retrieval.language.paragraphs import Span, split_paragraphs
from retrieval.language.sentences import split_sentences_of

TARGET_CHARS = 960
"""The target length. An ideograph counts as four characters, so that both scripts fill the encoder's window alike."""
MAX_CHARS = 1_280
MIN_CHARS = 320
IDEOGRAPH_COST = 4


class _Unit(NamedTuple):
    """A paragraph that fits as a whole, a sentence, or a piece of a sentence that is far too long."""

    span: Span
    cost: int
    ends_paragraph: bool
    heading: bool = False


def split_passages(text: str, blocks: Iterable[Block] = ()) -> list[Span]:
    """Split `text` into passages, in order. Only white space lies between them; an empty text has none.

    What heads others, by the text's `blocks`, is kept with what follows it.
    """
    filling = _Filling()
    heads = {block.start for block in blocks if block.kind in (BlockKind.HEADING, BlockKind.HEAD)}
    for paragraph in split_paragraphs(text):
        whole = _Unit(paragraph, cost_of(text[paragraph.start : paragraph.end]), ends_paragraph=True)
        if paragraph.start not in heads and filling.can_take(whole):
            filling.add(whole)
            continue
        for unit in _units_of(text, paragraph, heads):
            filling.add(unit)
    filling.close()
    return _join_stub(text, filling.passages)


class _Filling:
    """The passages so far, and the units of the one being filled."""

    def __init__(self) -> None:
        self.passages: list[Span] = []
        self._units: list[_Unit] = []
        self._filled = 0

    def can_take(self, paragraph: _Unit) -> bool:
        """Say whether a paragraph fits as it is; going sentence by sentence is most of the work of chunking."""
        starts_afresh = bool(self._units) and not self._units[-1].heading and self._filled >= TARGET_CHARS * 3 // 4
        return (0 if starts_afresh else self._filled) + paragraph.cost <= TARGET_CHARS

    def add(self, unit: _Unit) -> None:
        """Append to the passage being filled, or begin the next with it."""
        if self._units and self._must_close_before(unit):
            self.close()
        self._units.append(unit)
        self._filled += unit.cost

    def close(self) -> None:
        """End the passage being filled, if there is one."""
        if self._units:
            self.passages.append(Span(self._units[0].span.start, self._units[-1].span.end))
        self._units, self._filled = [], 0

    def _must_close_before(self, unit: _Unit) -> bool:
        last = self._units[-1]
        if self._filled + unit.cost > MAX_CHARS:
            return True
        if last.heading:
            return False
        if last.ends_paragraph and (self._filled >= TARGET_CHARS * 3 // 4 or (unit.heading and self._filled >= MIN_CHARS)):
            return True
        return self._filled + unit.cost > TARGET_CHARS and self._filled >= MIN_CHARS


def _join_stub(text: str, passages: list[Span]) -> list[Span]:
    """Join a very short last passage to the one before it."""
    if len(passages) > 1:
        before, last = passages[-2:]
        if (
            cost_of(text[last.start : last.end]) < MIN_CHARS // 2
            and cost_of(text[before.start : last.end]) <= MAX_CHARS + MIN_CHARS // 2
        ):
            return [*passages[:-2], Span(before.start, last.end)]
    return passages


def cost_of(text: str) -> int:
    """Return the length of `text` in characters, with an ideograph counted as four."""
    return len(text) + (IDEOGRAPH_COST - 1) * count_ideographs(text)


def _units_of(text: str, paragraph: Span, heads: Set[int]) -> Iterator[_Unit]:
    sentences = split_sentences_of(text, paragraph)
    for number, sentence in enumerate(sentences, 1):
        last = number == len(sentences)
        pieces = list(_cut_pieces(text, sentence))
        for piece in pieces:
            cost = cost_of(text[piece.start : piece.end])
            yield _Unit(piece, cost, last and piece is pieces[-1], piece.start in heads)


def _cut_pieces(text: str, sentence: Span) -> Iterable[Span]:
    """Yield the sentence, or pieces of it cut at white space where it exceeds any passage (tables, unpunctuated text)."""
    if cost_of(text[sentence.start : sentence.end]) <= MAX_CHARS:
        yield sentence
        return
    start = sentence.start
    while start < sentence.end:
        stop = _find_cut(text, start, sentence.end)
        piece = text[start:stop]
        left = start + len(piece) - len(piece.lstrip())
        yield Span(left, left + len(piece.strip()))
        start = stop + len(text[stop : sentence.end]) - len(text[stop : sentence.end].lstrip())


def _find_cut(text: str, start: int, end: int) -> int:
    step = TARGET_CHARS // IDEOGRAPH_COST if cost_of(text[start : start + 100]) > 200 else TARGET_CHARS
    if start + step >= end:
        return end
    space = max(text.rfind(" ", start + step // 2, start + step), text.rfind("\n", start + step // 2, start + step))
    return space if space > start else start + step
