"""Read a section's Markdown as nodes. It is the rendering's safe, numbered Markdown, read by the page's parser."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from app.exports.service import columns
from app.exports.service.clean import clean, in_ascii
from app.exports.service.document import (
    Block,
    Break,
    Cite,
    Code,
    Divider,
    Heading,
    Inline,
    Items,
    Link,
    Paragraph,
    Preformatted,
    Quotation,
    Styled,
    Table,
    Text,
)

NUMBER = re.compile(r"\[(\d{1,4})\]")
_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")
_ALIGN: dict[str, Literal["left", "center", "right"]] = {"text-align:center": "center", "text-align:right": "right"}


class Prose:
    """A reader of Markdown whose `[n]` are citations for every n in `numbers`; it remembers which it has seen."""

    def __init__(self, numbers: frozenset[int]) -> None:
        self._numbers = numbers
        self._seen: set[int] = set()

    def blocks(self, markdown: str) -> tuple[Block, ...]:
        """Return the nodes of a body."""
        return self._blocks(SyntaxTreeNode(_PARSER.parse(markdown)).children)

    def _blocks(self, nodes: Sequence[SyntaxTreeNode]) -> tuple[Block, ...]:
        return tuple(self._block(node) for node in nodes)

    def _block(self, node: SyntaxTreeNode) -> Block:
        match node.type:
            case "heading":
                return Heading(level=4, of=self._line(node))
            case "bullet_list":
                return Items(items=tuple(self._blocks(item.children) for item in node.children))
            case "ordered_list":
                start = int(node.attrs.get("start", 1))
                return Items(start=start, items=tuple(self._blocks(item.children) for item in node.children))
            case "blockquote":
                return Quotation(blocks=self._blocks(node.children))
            case "fence" | "code_block":
                return Preformatted(lines=tuple(clean(node.content).rstrip("\n").split("\n")))
            case "table":
                return self._table(node)
            case "hr":
                return Divider()
            case _:
                return Paragraph(of=self._line(node))

    def _line(self, node: SyntaxTreeNode) -> tuple[Inline, ...]:
        """Return the inlines of a block that holds one line of prose."""
        return self._inlines(inline for child in node.children for inline in child.children)

    def _inlines(self, nodes: Iterable[SyntaxTreeNode]) -> tuple[Inline, ...]:
        return tuple(part for node in nodes for part in self._inline(node))

    def _inline(self, node: SyntaxTreeNode) -> tuple[Inline, ...]:
        match node.type:
            case "text":
                return self._cited(clean(node.content))
            case "code_inline":
                return (Code(text=clean(node.content)),)
            case "strong" | "em":
                return (Styled(t="strong" if node.type == "strong" else "emph", of=self._inlines(node.children)),)
            case "link":
                return (Link(url=in_ascii(str(node.attrs["href"])), of=self._inlines(node.children)),)
            case "softbreak":
                return (Text(text=" "),)
            case "hardbreak":
                return (Break(),)
            case _:
                return self._cited(clean(node.content))

    def _cited(self, text: str) -> tuple[Inline, ...]:
        """Return the text, with citations in the place of reference numbers."""
        parts: list[Inline] = []
        last = 0
        for match in NUMBER.finditer(text):
            n = int(match.group(1))
            if n in self._numbers:
                parts += [Text(text=text[last : match.start()]), Cite(n=n, first=n not in self._seen)]
                self._seen.add(n)
                last = match.end()
        parts.append(Text(text=text[last:]))
        return tuple(part for part in parts if not isinstance(part, Text) or part.text)

    def _table(self, node: SyntaxTreeNode) -> Table:
        head, rows = self._rows(node, "thead"), self._rows(node, "tbody")
        texts = [[plain(cell) for cell in row] for row in (*head, *rows)]
        styles = [str(cell.attrs.get("style", "")) for cell in node.children[0].children[0].children]
        return Table(
            head=head[0],
            rows=rows,
            align=tuple(_ALIGN.get(style, "left") for style in styles),
            shares=columns.shares(texts),
            wide=columns.wide(texts),
        )

    def _rows(self, table: SyntaxTreeNode, part: str) -> tuple[tuple[tuple[Inline, ...], ...], ...]:
        rows = [row for child in table.children if child.type == part for row in child.children]
        return tuple(tuple(self._line(cell) for cell in row.children) for row in rows)


def plain(parts: Iterable[Inline]) -> str:
    """Return the words of inlines as they will stand on the page."""
    return "".join(_words(part) for part in parts)


def _words(part: Inline) -> str:
    match part:
        case Text(text=text) | Code(text=text):
            return text
        case Cite(n=n):
            return f"[{n}]"
        case Styled(of=of) | Link(of=of):
            return plain(of)
        case _:
            return " "
