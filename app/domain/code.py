"""Code within Markdown, found and hidden from patterns that are meant for prose: `argv[1]` cites nothing, and a blank counts."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from math import inf
from typing import NamedTuple

OPEN, CLOSE = "\ue010", "\ue011"
_HIDDEN = re.compile(f"{OPEN}(\\d+){CLOSE}")
_INLINE = re.compile(r"(?<![`\\])(`+)(?!`)[^\n]{1,400}?(?<!`)\1(?!`)")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)")
_LINE = re.compile(r"[^\n]+")


class CodePlaces(NamedTuple):
    """Pieces of code, each as `[start, end)` of the text; `open_at` is the fence that nothing closes, if any."""

    blocks: tuple[tuple[int, int], ...]
    open_at: tuple[int, int] | None = None

    def holds(self, place: int) -> bool:
        """Say whether a place of the text is in such a block."""
        before = bisect_right(self.blocks, (place, inf))
        return before > 0 and place < self.blocks[before - 1][1]


class HiddenCode(NamedTuple):
    """A text with a private sign in the place of each piece of code, and the pieces."""

    text: str
    pieces: Sequence[str]

    def put_back(self, text: str) -> str:
        """Return a text made of this one with its code."""
        return _HIDDEN.sub(lambda match: self.pieces[int(match[1])], text)


def find_fenced_code(text: str) -> CodePlaces:
    """Find the code between fences."""
    blocks: list[tuple[int, int]] = []
    open_at, mark = None, ""
    for line in _LINE.finditer(text):
        fence = _FENCE.match(line.group())
        if fence is None:
            continue
        if open_at is None and "`" not in fence[2]:
            open_at, mark = line.span(), fence[1]
        elif open_at and fence[1].startswith(mark) and not fence[2].strip():
            blocks.append((open_at[0], line.end()))
            open_at = None
    return CodePlaces(tuple(blocks), open_at)


def find_code(text: str) -> CodePlaces:
    """Find the code between fences and that between backticks on one line, in the text's order."""
    blocks: list[tuple[int, int]] = []
    at = 0
    for start, end in (*find_fenced_code(text).blocks, (len(text), len(text))):
        blocks += [found.span() for found in _INLINE.finditer(text, at, start)]
        blocks += [(start, end)] if end > start else []
        at = end
    return CodePlaces(tuple(blocks))


def hide_code(text: str, no_code: re.Pattern[str]) -> HiddenCode:
    """Hide the code between fences and backticks, but for pieces in which `no_code` occurs."""
    text = text.replace(OPEN, "").replace(CLOSE, "")
    pieces: list[str] = []
    shown: list[str] = []
    at = 0
    for start, end in find_code(text).blocks:
        if no_code.search(text[start:end]):
            continue
        shown += [text[at:start], f"{OPEN}{len(pieces)}{CLOSE}"]
        pieces.append(text[start:end])
        at = end
    return HiddenCode("".join([*shown, text[at:]]), pieces)
