"""Read a section's Markdown as nodes. It is the rendering's safe, numbered Markdown, read by the page's parser."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from app.exports.service import column_widths as columns
from app.exports.service.clean import clean, to_ascii
from app.exports.service.document import (
    Block,
    Break,
    Cite,
    Code,
    Divider,
    Emphasis,
    Heading,
    Inline,
    Items,
    Link,
    Paragraph,
    Preformatted,
    Quotation,
    Table,
    Text,
)

NUMBER = re.compile(r"\[(\d{1,4})\]")
_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")
_ALIGN: dict[str, Literal["left", "center", "right"]] = {"text-align:center": "center", "text-align:right": "right"}


class ProseReader:
    """A reader of Markdown whose `[n]` are citations for every n in `numbers`; it remembers which it has seen."""

    def __init__(self, numbers: frozenset[int]) -> None:
        self._numbers = numbers
        self._seen: set[int] = set()

    def read_blocks(self, markdown: str) -> tuple[Block, ...]:
        """Return the nodes of a body."""
        return self._blocks_of(SyntaxTreeNode(_PARSER.parse(markdown)).children)

    def _blocks_of(self, nodes: Sequence[SyntaxTreeNode]) -> tuple[Block, ...]:
        return tuple(self._block_of(node) for node in nodes)

    def _block_of(self, node: SyntaxTreeNode) -> Block:
        match node.type:
            case "heading":
                return Heading(level=4, of=self._line_of(node))
            case "bullet_list":
                return Items(items=tuple(self._blocks_of(item.children) for item in node.children))
            case "ordered_list":
                start = int(node.attrs.get("start", 1))
                return Items(start=start, items=tuple(self._blocks_of(item.children) for item in node.children))
            case "blockquote":
                return Quotation(blocks=self._blocks_of(node.children))
            case "fence" | "code_block":
                return Preformatted(lines=tuple(clean(node.content).rstrip("\n").split("\n")))
            case "table":
                return self._table_of(node)
            case "hr":
                return Divider()
            case _:
                return Paragraph(of=self._line_of(node))

    def _line_of(self, node: SyntaxTreeNode) -> tuple[Inline, ...]:
        """Return the inlines of a block that holds one line of prose."""
        return self._inlines_of(inline for child in node.children for inline in child.children)

    def _inlines_of(self, nodes: Iterable[SyntaxTreeNode]) -> tuple[Inline, ...]:
        return tuple(part for node in nodes for part in self._inline_of(node))

    def _inline_of(self, node: SyntaxTreeNode) -> tuple[Inline, ...]:
        match node.type:
            case "text":
                return self._split_citations(clean(node.content))
            case "code_inline":
                return (Code(text=clean(node.content)),)
            case "strong" | "em":
                return (Emphasis(t="strong" if node.type == "strong" else "emph", of=self._inlines_of(node.children)),)
            case "link":
                return (Link(url=to_ascii(str(node.attrs["href"])), of=self._inlines_of(node.children)),)
            case "softbreak":
                return (Text(text=" "),)
            case "hardbreak":
                return (Break(),)
            case _:
                return self._split_citations(clean(node.content))

    def _split_citations(self, text: str) -> tuple[Inline, ...]:
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

    def _table_of(self, node: SyntaxTreeNode) -> Table:
        head, rows = self._rows_of(node, "thead"), self._rows_of(node, "tbody")
        texts = [[plain_text_of(cell) for cell in row] for row in (*head, *rows)]
        styles = [str(cell.attrs.get("style", "")) for cell in node.children[0].children[0].children]
        return Table(
            head=head[0],
            rows=rows,
            align=tuple(_ALIGN.get(style, "left") for style in styles),
            shares=columns.share_width(texts),
            wide=columns.is_wide(texts),
        )

    def _rows_of(self, table: SyntaxTreeNode, part: str) -> tuple[tuple[tuple[Inline, ...], ...], ...]:
        rows = [row for child in table.children if child.type == part for row in child.children]
        return tuple(tuple(self._line_of(cell) for cell in row.children) for row in rows)


def plain_text_of(parts: Iterable[Inline]) -> str:
    """Return the words of inlines as they will stand on the page."""
    return "".join(_words_of(part) for part in parts)


def _words_of(part: Inline) -> str:
    match part:
        case Text(text=text) | Code(text=text):
            return text
        case Cite(n=n):
            return f"[{n}]"
        case Emphasis(of=of) | Link(of=of):
            return plain_text_of(of)
        case _:
            return " "
