"""Parsing Markdown as readers' programs do (CommonMark with tables), for detectors that need its blocks."""

import re
from bisect import bisect_right
from math import inf
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

_CODE = frozenset({"fence", "code_block"})
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)")
_LINE = re.compile(r"[^\n]+")
_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")
_BLOCK_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table").disable("inline")


class FencedCode(NamedTuple):
    """Blocks of code between fences, each as `[start, end)` of the text; `open_at` is the fence that nothing closes, if any."""

    blocks: tuple[tuple[int, int], ...]
    open_at: tuple[int, int] | None = None

    def holds(self, place: int) -> bool:
        """Say whether a place of the text is in such a block."""
        before = bisect_right(self.blocks, (place, inf))
        return before > 0 and place < self.blocks[before - 1][1]


def find_fenced_code(text: str) -> FencedCode:
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
    return FencedCode(tuple(blocks), open_at)


def remove_open_fence(text: str) -> str:
    """Remove each fence that nothing closes: all that follows, to the end of the report, would be code."""
    while open_at := find_fenced_code(text).open_at:
        text = f"{text[: open_at[0]]}{text[open_at[1] :]}"
    return text


def parse_markdown(text: str) -> list[Token]:
    """Return the blocks of a text with what stands in their lines. Each open bracket costs twenty tries to close it."""
    return _PARSER.parse(text)


def parse_blocks(text: str) -> list[Token]:
    """Return the blocks of a text; `map` gives their lines, counted from 0, the end exclusive. Their words are not parsed."""
    return _BLOCK_PARSER.parse(text)


def find_code_lines(tokens: list[Token]) -> frozenset[int]:
    """Return the lines of code, in which nothing is a table, heading or citation."""
    return frozenset(line for token in tokens if token.type in _CODE and token.map for line in range(*token.map))
