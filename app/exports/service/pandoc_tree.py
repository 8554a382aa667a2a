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
    Document,
    Heading,
    Inline,
    Items,
    Link,
    Notice,
    Paragraph,
    Preformatted,
    Quotation,
    Reference,
    Styled,
    Table,
    Text,
)

API_VERSION = [1, 23, 1]
Node = dict[str, Any]
_ALIGN = {"left": "AlignLeft", "center": "AlignCenter", "right": "AlignRight"}
NO_BREAK = "\u00a0"


SECTIONS_FOR_CONTENTS = 3


def tree(document: Document, sideways: tuple[Node, Node], contents: bool = False) -> Node:
    """Return the document as Pandoc's tree. The two nodes `sideways` put everything between them on landscape pages.

    `contents`: with a list of links to the sections, where there are three or more.
    """
    writer = _Writer(sideways)
    meta: dict[str, Node] = {
        "title": {"t": "MetaInlines", "c": _words(document.title)},
        "date": {"t": "MetaInlines", "c": _words(document.date)},
        "lang": {"t": "MetaString", "c": "zh-CN" if document.language == "zh" else "en"},
    }
    listed = _contents(document) if contents else []
    blocks = [*_asked(document), *listed, *writer.blocks(document.blocks, document.labels.note)]
    if document.labels.legend:
        blocks.append(_para(_words(document.labels.legend)))
    if document.references:
        blocks.append(_node("Header", 1, _attributes("sources"), _words(document.labels.sources)))
        blocks += [block for reference in document.references for block in _reference(reference, document.labels.back)]
    return {"pandoc-api-version": API_VERSION, "meta": meta, "blocks": blocks}


def sections(document: Document) -> list[Heading]:
    """Return the headings that contents list; none for a short report."""
    found = [block for block in document.blocks if isinstance(block, Heading) and block.level == 1]
    return found if len(found) >= SECTIONS_FOR_CONTENTS else []


def raw(form: str, text: str) -> Node:
    """Return markup of our own in one output format. It must never contain text from outside."""
    return _node("RawBlock", form, text)


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
                return [_node("Header", level, _attributes(f"s{self._sections}" if level == 1 else ""), _line(of))]
            case Paragraph(of=of):
                return [_para(_line(of))]
            case Notice(text=text):
                said = [_node("Strong", _words(f"{note}.")), {"t": "Space"}, *_words(text)]
                return [_node("BlockQuote", [_para(said)])]
            case Preformatted(lines=lines):
                return [_para(_joined([[_code(line)] for line in lines]))]
            case Quotation(blocks=blocks):
                return [_node("BlockQuote", self.blocks(blocks))]
            case Items(start=start, items=items):
                made = [self.blocks(item) for item in items]
                if start is None:
                    return [_node("BulletList", made)]
                return [_node("OrderedList", [start, {"t": "Decimal"}, {"t": "Period"}], made)]
            case Table():
                return [self._begin, _table(node), self._end] if node.wide else [_table(node)]
            case Divider():
                return [{"t": "HorizontalRule"}]


def _asked(document: Document) -> list[Node]:
    if not document.question:
        return []
    return [_para([_node("Strong", _words(f"{document.labels.question}:")), {"t": "Space"}, *_words(document.question)])]


def _contents(document: Document) -> list[Node]:
    links = [[_node("Plain", [_link(f"#s{n}", _line(s.of))])] for n, s in enumerate(sections(document), start=1)]
    return [_para([_node("Strong", _words(document.labels.contents))]), _node("BulletList", links)] if links else []


def _place(reference: Reference) -> list[Node]:
    """Return where the source is, unless its title says it."""
    if reference.url:
        return [{"t": "Space"}, _link(reference.address, _words(reference.url))]
    return [{"t": "Space"}, _code(reference.place)] if reference.place else []


def _reference(reference: Reference, back: str) -> list[Node]:
    """Return number, source and address; then the exact words, and where they stand."""
    anchor = _span(f"c{reference.n}", [_node("Strong", _words(f"[{reference.n}]"))])
    named = [
        anchor,
        {"t": "Space"},
        _node("Emph", _words(reference.title)),
        *_words(f", {reference.about}" if reference.about else ""),
    ]
    lines = [_words(" ".join(line.split())) for line in reference.quote.split("\n") if line.strip()]
    where = [*_words(f"{reference.where} · "), _link(f"#r{reference.n}", _words(back))]
    quoted = [_para(_joined(lines)), _para([_node("Span", ["", [], [["custom-style", "Where"]]], where)])]
    return [_para([*named, *_words("."), *_place(reference)]), _node("BlockQuote", quoted)]


def _table(table: Table) -> Node:
    columns = [[{"t": _ALIGN[align]}, _node("ColWidth", share)] for align, share in zip(table.align, table.shares, strict=True)]
    head = [_attributes(), [_row(table.head)]]
    body = [_attributes(), 0, [], [_row(row) for row in table.rows]]
    return _node("Table", _attributes(), [None, []], columns, head, [body], [_attributes(), []])


def _row(cells: Sequence[tuple[Inline, ...]]) -> list[Any]:
    return [_attributes(), [[_attributes(), {"t": "AlignDefault"}, 1, 1, [_node("Plain", _line(cell))]] for cell in cells]]


def _line(nodes: Iterable[Inline]) -> list[Node]:
    return [made for node in nodes for made in _inline(node)]


def _inline(node: Inline) -> list[Node]:
    match node:
        case Text(text=text):
            return _words(text)
        case Code(text=text):
            return [_code(text)]
        case Break():
            return [{"t": "LineBreak"}]
        case Styled(t=t, of=of):
            return [_node("Strong" if t == "strong" else "Emph", _line(of))]
        case Link(url=url, of=of):
            return [_link(url, _line(of))]
        case Cite(n=n, first=first):
            link = _link(f"#c{n}", [_node("Str", f"[{n}]")])
            return [_span(f"r{n}", [link]) if first else link]


def _words(text: str) -> list[Node]:
    """Return words and the spaces between them."""
    parts: list[Node] = []
    for number, word in enumerate(text.replace("\n", " ").replace("\t", " ").split(" ")):
        if number:
            parts.append({"t": "Space"})
        if word:
            parts.append(_node("Str", word))
    return parts


def _joined(lines: Sequence[list[Node]]) -> list[Node]:
    return [node for number, line in enumerate(lines) for node in ([{"t": "LineBreak"}] if number else []) + line]


def _code(text: str) -> Node:
    """Return the text as inline code, which every writer escapes; blanks must not collapse."""
    return _node("Code", _attributes(), text.replace("\t", "    ").replace("  ", NO_BREAK * 2))


def _link(target: str, of: list[Node]) -> Node:
    return _node("Link", _attributes(), of, [target, ""])


def _span(name: str, of: list[Node]) -> Node:
    return _node("Span", _attributes(name), of)


def _para(of: list[Node]) -> Node:
    return _node("Para", of)


def _attributes(name: str = "") -> list[Any]:
    return [name, [], []]


def _node(t: str, *content: Any) -> Node:
    return {"t": t, "c": content[0] if len(content) == 1 else list(content)}
