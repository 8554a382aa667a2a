"""The marks that readers put into the text which they write: before a heading, an item or a row, and where a page begins.

They are characters that no text may hold (U+FDD0 to U+FDEF), so that a text is joined, cleaned and hyphenated with its marks in
it. In the end they are taken out: what is left is the text, and the blocks that they told.
"""

import re
from typing import NamedTuple

from app.domain.blocks import Block, BlockKind
from app.domain.safe_text import make_safe
from retrieval.language.blocks import FoundBlock, guess_blocks, link_blocks

_KINDS = {chr(0xFDD0 + number): kind for number, kind in enumerate(BlockKind)}
_LETTERS = {kind: letter for letter, kind in _KINDS.items()}
_LEVEL, _DIGIT = 0xFDD8, 0xFDE0
_LEVELS = 7
_READ_DIGIT = {_DIGIT + digit: str(digit) for digit in range(10)}
_MARKS = re.compile("([\ufdd0-\ufdd7])([\ufdd8-\ufddf])|([\ufde0-\ufde9]+)|[\ufdd0-\ufdef]")


class MarkedText(NamedTuple):
    """A text without its marks, and its blocks."""

    text: str
    blocks: tuple[Block, ...]


def mark(kind: BlockKind, text: str, level: int = 0) -> str:
    """Return a paragraph or a line with the mark of its kind, a heading with its level. Where there is no text is no mark."""
    return f"{_LETTERS[kind]}{chr(_LEVEL + min(level, _LEVELS))}{text}" if text.strip() else text


def mark_code(text: str) -> str:
    """Return lines of code with the mark of code, also after blank lines."""
    return "\n\n".join(mark(BlockKind.CODE, part) for part in text.split("\n\n"))


def mark_page(page: int, text: str) -> str:
    """Return a text with the mark of the page on which it begins."""
    return "".join(chr(_DIGIT + int(digit)) for digit in str(page)) + text if text else text


def begins_marked(text: str) -> bool:
    """Say whether a text begins with a mark."""
    return _MARKS.match(text) is not None


def drop_marks(text: str) -> str:
    """Return a text without marks."""
    return _MARKS.sub("", text)


def take_marks(marked: str) -> MarkedText:
    """Take the marks out of a text. A block ends at the next blank line; what no reader marked is guessed."""
    text, starts, pages = _split_marks(make_safe(marked).strip())
    found: list[FoundBlock] = []
    at = 0
    for start, kind, level in starts:
        gap = text.find("\n\n", start)
        found += guess_blocks(text, at, start)
        at = gap if gap >= 0 else len(text)
        found.append(FoundBlock(kind, start, at, level))
    return MarkedText(text, link_blocks(text, [*found, *guess_blocks(text, at, len(text))], pages))


def _split_marks(marked: str) -> tuple[str, list[tuple[int, BlockKind, int]], list[tuple[int, int]]]:
    """Return the text, where its marked blocks start with their kinds and levels, and where pages begin with their numbers.

    Of marks that follow each other the first counts, and only before a paragraph: the cells of a row may be marked too.
    """
    pieces: list[str] = []
    starts: list[tuple[int, BlockKind, int]] = []
    pages: list[tuple[int, int]] = []
    length, last, tail = 0, 0, "\n\n"
    for found in _MARKS.finditer(marked):
        piece = marked[last : found.start()]
        pieces.append(piece if length else piece.lstrip())
        length, tail, last = length + len(pieces[-1]), (tail + pieces[-1])[-2:], found.end()
        letter, level, page = found.groups()
        if page:
            pages.append((length, int(page.translate(_READ_DIGIT))))
        elif letter in _KINDS and tail == "\n\n" and not (starts and starts[-1][0] == length):
            starts.append((length, _KINDS[letter], ord(level) - _LEVEL))
    rest = marked[last:]
    return "".join([*pieces, rest if length else rest.lstrip()]), starts, pages
