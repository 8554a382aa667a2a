"""Parsing Markdown as readers' programs do (CommonMark with tables), for detectors that need its blocks."""

from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.domain.code import find_fenced_code

_CODE = frozenset({"fence", "code_block"})
_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")
_BLOCK_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table").disable("inline")


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
