"""Convert a document to Pandoc's own tree, so that no text is parsed as markup again.

The nodes are those of https://hackage.haskell.org/package/pandoc-types.
"""

from collections.abc import Iterable, Sequence
from typing import Any

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
    Notice,
    Paragraph,
    Preformatted,
    Quotation,
    QuotedWords,
    Reference,
    ReportDocument,
    Table,
    Text,
)

API_VERSION = [1, 23, 1]
Node = dict[str, Any]
_ALIGN = {"left": "AlignLeft", "center": "AlignCenter", "right": "AlignRight"}
NO_BREAK = "\u00a0"


SECTIONS_FOR_CONTENTS = 3


def to_tree(document: ReportDocument, sideways: tuple[Node, Node], contents: bool = False) -> Node:
    """Return the document as Pandoc's tree. The two nodes `sideways` put everything between them on landscape pages.

    `contents`: with a list of links to the sections, where there are three or more.
    """
    writer = _Writer(sideways)
    meta: dict[str, Node] = {
        "title": {"t": "MetaInlines", "c": _make_words(document.title)},
        "date": {"t": "MetaInlines", "c": _make_words(document.date)},
        "lang": {"t": "MetaString", "c": "zh-CN" if document.language == "zh" else "en"},
    }
    listed = _make_contents(document) if contents else []
    blocks = [*_make_question(document), *listed, *writer.blocks(document.blocks, document.labels.note)]
    if document.labels.legend:
        blocks.append(_make_paragraph(_make_words(document.labels.legend)))
    if document.references:
        blocks.append(_make_node("Header", 1, _make_attributes("sources"), _make_words(document.labels.sources)))
        blocks += [block for reference in document.references for block in _make_reference(reference, document.labels.back)]
    return {"pandoc-api-version": API_VERSION, "meta": meta, "blocks": blocks}


def list_sections(document: ReportDocument) -> list[Heading]:
    """Return the headings that contents list; none for a short report."""
    found = [block for block in document.blocks if isinstance(block, Heading) and block.level == 1]
    return found if len(found) >= SECTIONS_FOR_CONTENTS else []


def make_raw_block(form: str, text: str) -> Node:
    """Return markup of our own in one output format. It must never contain text from outside."""
    return _make_node("RawBlock", form, text)


class _Writer:
    def __init__(self, sideways: tuple[Node, Node]) -> None:
        self._begin, self._end = sideways
        self._sections = 0

    def blocks(self, nodes: Iterable[Block], note: str = "") -> list[Node]:
        return [made for node in nodes for made in self._block(node, note)]

    def _block(self, node: Block, note: str) -> list[Node]:
        match node:
            case Heading(level=level, of=of):
                self._sections += level == 1
                return [
                    _make_node("Header", level, _make_attributes(f"s{self._sections}" if level == 1 else ""), _nodes_of_line(of))
                ]
            case Paragraph(of=of):
                return [_make_paragraph(_nodes_of_line(of))]
            case Notice(text=text):
                said = [_make_node("Strong", _make_words(f"{note}.")), {"t": "Space"}, *_make_words(text)]
                return [_make_node("BlockQuote", [_make_paragraph(said)])]
            case Preformatted(lines=lines):
                return [_make_paragraph(_join_lines([[_make_code(line)] for line in lines]))]
            case Quotation(blocks=blocks):
                return [_make_node("BlockQuote", self.blocks(blocks))]
            case Items(start=start, items=items):
                made = [self.blocks(item) for item in items]
                if start is None:
                    return [_make_node("BulletList", made)]
                return [_make_node("OrderedList", [start, {"t": "Decimal"}, {"t": "Period"}], made)]
            case Table():
                return [self._begin, _make_table(node), self._end] if node.wide else [_make_table(node)]
            case Divider():
                return [{"t": "HorizontalRule"}]


def _make_question(document: ReportDocument) -> list[Node]:
    if not document.question:
        return []
    return [
        _make_paragraph(
            [_make_node("Strong", _make_words(f"{document.labels.question}:")), {"t": "Space"}, *_make_words(document.question)]
        )
    ]


def _make_contents(document: ReportDocument) -> list[Node]:
    links = [
        [_make_node("Plain", [_make_link(f"#s{n}", _nodes_of_line(s.of))])]
        for n, s in enumerate(list_sections(document), start=1)
    ]
    return (
        [_make_paragraph([_make_node("Strong", _make_words(document.labels.contents))]), _make_node("BulletList", links)]
        if links
        else []
    )


def _make_place(reference: Reference) -> list[Node]:
    """Return where the source is, unless its title says it."""
    if reference.url:
        return [{"t": "Space"}, _make_link(reference.address, _make_words(reference.url))]
    return [{"t": "Space"}, _make_code(reference.place)] if reference.place else []


def _make_reference(reference: Reference, back: str) -> list[Node]:
    """Return a document's title, address and stored copy; then its quotations, each with its number and where it stands."""
    named = [
        _make_node("Emph", _make_words(reference.title)),
        *_make_words(f", {reference.about}" if reference.about else ""),
        *_make_words("."),
        *_make_place(reference),
        {"t": "Space"},
        _make_where(_make_words(f"({reference.stored_copy})")),
    ]
    return [
        _make_paragraph(named),
        *(_make_node("BlockQuote", [_make_paragraph(_make_quotation(quote, back))]) for quote in reference.quotes),
    ]


def _make_quotation(quote: QuotedWords, back: str) -> list[Node]:
    anchor = _make_span(f"c{quote.n}", [_make_node("Strong", _make_words(f"[{quote.n}]"))])
    lines = [_make_words(" ".join(line.split())) for line in quote.text.split("\n") if line.strip()]
    where = _make_where([*_make_words(f"{quote.where} · "), _make_link(f"#r{quote.n}", _make_words(back))])
    return [anchor, {"t": "Space"}, *_join_lines(lines), {"t": "LineBreak"}, where]


def _make_where(of: list[Node]) -> Node:
    """Return words that say where something stands, in the style for them."""
    return _make_node("Span", ["", [], [["custom-style", "Where"]]], of)


def _make_table(table: Table) -> Node:
    columns = [
        [{"t": _ALIGN[align]}, _make_node("ColWidth", share)] for align, share in zip(table.align, table.shares, strict=True)
    ]
    head = [_make_attributes(), [_make_row(table.head)]]
    body = [_make_attributes(), 0, [], [_make_row(row) for row in table.rows]]
    return _make_node("Table", _make_attributes(), [None, []], columns, head, [body], [_make_attributes(), []])


def _make_row(cells: Sequence[tuple[Inline, ...]]) -> list[Any]:
    return [
        _make_attributes(),
        [[_make_attributes(), {"t": "AlignDefault"}, 1, 1, [_make_node("Plain", _nodes_of_line(cell))]] for cell in cells],
    ]


def _nodes_of_line(nodes: Iterable[Inline]) -> list[Node]:
    return [made for node in nodes for made in _nodes_of(node)]


def _nodes_of(node: Inline) -> list[Node]:
    match node:
        case Text(text=text):
            return _make_words(text)
        case Code(text=text):
            return [_make_code(text)]
        case Break():
            return [{"t": "LineBreak"}]
        case Emphasis(t=t, of=of):
            return [_make_node("Strong" if t == "strong" else "Emph", _nodes_of_line(of))]
        case Link(url=url, of=of):
            return [_make_link(url, _nodes_of_line(of))]
        case Cite(n=n, first=first):
            link = _make_link(f"#c{n}", [_make_node("Str", f"[{n}]")])
            return [_make_span(f"r{n}", [link]) if first else link]


def _make_words(text: str) -> list[Node]:
    """Return words and the spaces between them."""
    parts: list[Node] = []
    for number, word in enumerate(text.replace("\n", " ").replace("\t", " ").split(" ")):
        if number:
            parts.append({"t": "Space"})
        if word:
            parts.append(_make_node("Str", word))
    return parts


def _join_lines(lines: Sequence[list[Node]]) -> list[Node]:
    return [node for number, line in enumerate(lines) for node in ([{"t": "LineBreak"}] if number else []) + line]


def _make_code(text: str) -> Node:
    """Return the text as inline code, which every writer escapes; blanks must not collapse."""
    return _make_node("Code", _make_attributes(), text.replace("\t", "    ").replace("  ", NO_BREAK * 2))


def _make_link(target: str, of: list[Node]) -> Node:
    return _make_node("Link", _make_attributes(), of, [target, ""])


def _make_span(name: str, of: list[Node]) -> Node:
    return _make_node("Span", _make_attributes(name), of)


def _make_paragraph(of: list[Node]) -> Node:
    return _make_node("Para", of)


def _make_attributes(name: str = "") -> list[Any]:
    return [name, [], []]


def _make_node(t: str, *content: Any) -> Node:
    return {"t": t, "c": content[0] if len(content) == 1 else list(content)}
