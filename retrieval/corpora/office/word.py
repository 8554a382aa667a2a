"""A reader of Word documents: headers, paragraphs with their numbers, tables, text boxes, notes, comments, charts and footers."""

from collections.abc import Iterator
from typing import Any

from app.domain.blocks import BlockKind
from retrieval.corpora.extract import Extract
from retrieval.corpora.formulas import write_formula
from retrieval.corpora.marks import mark
from retrieval.corpora.office.charts import list_drawings
from retrieval.corpora.office.numbering import Numbering
from retrieval.corpora.office.package import OfficePackage, open_office_package
from retrieval.corpora.office.styles import Styles, W, read_value
from retrieval.corpora.office.symbols import read_symbol
from retrieval.corpora.raised import join_levels
from retrieval.corpora.table import join_merged

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MARKUP = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_PARAGRAPH, _TABLE, _ROW, _CELL, _BOX, _RUN = (f"{W}{name}" for name in ("p", "tbl", "tr", "tc", "txbxContent", "r"))
_FORMULA = f"{_M}oMath"
_CHARACTERS = {
    f"{W}{name}": text for name, text in (("tab", "\t"), ("ptab", "\t"), ("br", "\n"), ("cr", "\n"), ("noBreakHyphen", "-"))
}
_UNSEEN = frozenset((*(f"{W}{name}" for name in ("pPr", "rPr", "sdtPr", "del", "moveFrom", "rt")), f"{_MARKUP}Fallback"))
"""What nobody sees. A fallback is a second form, for old programs, of what stands before it: of a text box, for example."""
_NOTES = {f"{W}footnoteReference": "footnotes", f"{W}endnoteReference": "endnotes", f"{W}commentReference": "comments"}
_OUTLINE = tuple("012345678")
"""The levels of headings; 9 is the text's."""
_PAGE_FIELDS = ("PAGE", "NUMPAGES", "SECTIONPAGES")
_HIDDEN, _STRUCK = "hidden text was left out", "struck-out text was left out"


def read_docx(content: bytes) -> Extract:
    """Read a Word document with tracked changes accepted. Struck and hidden text is left out, and a note says so."""
    with open_office_package(content, "a Word document (.docx)") as package:
        main = package.find_main()
        body = package.parse(main).find(f"{W}body")
        package.notes += ["an embedded document was not read"] if package.find_parts(main, "aFChunk") else []
        reader = _PartReader(package, main)
        blocks = [*reader.list_margins(body, "header"), *reader.list_blocks(body), *reader.list_margins(body, "footer")]
        return package.make_extract("\n\n".join(filter(None, (block.strip() for block in blocks))))


class _PartReader:
    """The reader of the text of one part, with what the paragraphs of the document share."""

    def __init__(self, package: OfficePackage, part: str) -> None:
        self._package, self._part, self._links = package, part, package.list_relations(part)
        self._styles = Styles(package.parse_related(part, "styles"))
        self._numbering = Numbering(package.parse_related(part, "numbering"), self._styles)
        self._notes = {kind: _index_notes(package.parse_related(part, kind)) for kind in _NOTES.values()}

    def list_margins(self, body: Any, kind: str) -> Iterator[str]:
        """Yield the text of the headers or footers, each once. A number of a page is no text."""
        seen: set[str] = set()
        for reference in body.iter(f"{W}{kind}Reference"):
            link = self._links.get(reference.get(f"{_R}id", ""))
            root = self._package.parse(link.target) if link is not None else None
            if root is None:
                continue
            marks = [mark.get("string", "") for mark in root.iter("{*}textpath")]
            for text in [*marks, *self.list_blocks(_drop_page_numbers(root))]:
                if text not in seen:
                    seen.add(text)
                    yield text

    def list_blocks(self, element: Any) -> Iterator[str]:
        """Yield the text of each paragraph and table below an element. What belongs to a paragraph (boxes, notes) follows it."""
        for block in _find_nearest(element, {_PARAGRAPH, _TABLE}):
            if block.tag == _TABLE:
                yield "\n\n".join(filter(None, self._list_rows(block)))
            else:
                yield self._read_paragraph(block)
                for box in _find_nearest(block, {_BOX}):
                    yield from self.list_blocks(box)
                yield from list_drawings(self._package, self._links, block)
                yield from self._list_notes(block)

    def _read_paragraph(self, paragraph: Any) -> str:
        style = read_value(paragraph, "pPr/pStyle")
        number = self._numbering.count_paragraph(paragraph, style)
        if not number and self._styles.find_name(style).startswith("List") and read_value(paragraph, "pPr/numPr/numId") != "0":
            number = "-"
        text = join_levels(self._list_pieces(paragraph, style)).strip()
        text = f"{number} {text}" if number and text else text
        level = read_value(paragraph, "pPr/outlineLvl") or self._styles.find_value(style, "pPr/outlineLvl")
        if level in _OUTLINE or self._styles.find_name(style).lower() == "title":
            return mark(BlockKind.HEADING, text, _OUTLINE.index(level) + 1 if level in _OUTLINE else 1)
        return mark(BlockKind.ITEM, text) if number else text

    def _list_pieces(self, paragraph: Any, style: str | None) -> Iterator[tuple[str, str]]:
        """Yield pieces of a paragraph's text, each with its level: "superscript", "subscript" or another."""
        for run in _find_nearest(paragraph, {_RUN, _FORMULA, _BOX}):
            if run.tag == _FORMULA:
                yield "", " ".join(write_formula(run).split())
            elif run.tag == _RUN and (text := _read_run(run)):
                hidden = self._styles.is_on(run, style, "vanish")
                if hidden or any(self._styles.is_on(run, style, name) for name in ("strike", "dstrike")):
                    self._package.notes += [_HIDDEN if hidden else _STRUCK] if text.strip() else []
                else:
                    yield self._find_level(run, style), text

    def _find_level(self, run: Any, style: str | None) -> str:
        stated = self._styles.find_run_value(run, style, "vertAlign")
        position = self._styles.find_run_value(run, style, "position") or "0"
        return stated or ("" if position in ("", "0") else "subscript" if position.startswith("-") else "superscript")

    def _list_notes(self, block: Any) -> Iterator[str]:
        for reference in _find_nearest(block, set(_NOTES)):
            kind = _NOTES[reference.tag]
            note = self._notes[kind].pop(reference.get(f"{W}id"), None)
            text = "\n".join(filter(None, self.list_blocks(note))) if note is not None else ""
            if text:
                yield f"Comment by {note.get(f'{W}author', '?')}: {text}" if kind == "comments" else f"Note: {text}"

    def _list_rows(self, table: Any) -> Iterator[str]:
        """Yield the rows of a table. A cell that spans rows or columns gives its text in each of them."""
        above: dict[int, str] = {}
        for row in _find_nearest(table, {_ROW}):
            if read_value(row, "trPr/del") is not None:
                continue
            cells: dict[int, str] = {}
            column = int(read_value(row, "trPr/gridBefore") or 0)
            for cell in _find_nearest(row, {_CELL}):
                span = int(read_value(cell, "tcPr/gridSpan") or 1)
                goes_on = read_value(cell, "tcPr/vMerge") in ("", "continue")
                beside = read_value(cell, "tcPr/hMerge") in ("", "continue")
                before = above if goes_on else {column: cells.get(column - 1, "")}
                text = before.get(column, "") if goes_on or beside else " ".join(" ".join(self.list_blocks(cell)).split())
                cells |= dict.fromkeys(range(column, column + span), text)
                column += span
            yield join_merged(list(cells.values()), merged=len(cells) > len(list(_find_nearest(row, {_CELL}))))
            above = cells


def _find_nearest(element: Any, tags: set[str]) -> Iterator[Any]:
    """Yield the elements with these tags below `element`, in order, without those below another one or in what nobody sees."""
    for child in element:
        if child.tag in tags:
            yield child
        elif child.tag not in _UNSEEN:
            yield from _find_nearest(child, tags)


def _read_run(run: Any) -> str:
    pieces = _find_nearest(run, {f"{W}t", f"{W}sym", _BOX, *_CHARACTERS})
    return "".join(
        read_symbol(piece) if piece.tag == f"{W}sym" else _CHARACTERS.get(piece.tag, piece.text or "")
        for piece in pieces
        if piece.tag != _BOX
    )


def _index_notes(part: Any) -> dict[str, Any]:
    """Return notes by their ids. The line above the notes is stored as one."""
    found = [] if part is None else [note for note in part if isinstance(note.tag, str)]
    return {note.get(f"{W}id"): note for note in found if note.get(f"{W}type") in (None, "normal")}


def _drop_page_numbers(root: Any) -> Any:
    """Drop the paragraphs of a header that say little but the page's number."""
    for paragraph in list(root.iter(_PARAGRAPH)):
        fields = [field.get(f"{W}instr", "") for field in paragraph.iter(f"{W}fldSimple")]
        fields += [code.text or "" for code in paragraph.iter(f"{W}instrText")]
        numbered = any(field.split()[:1] == [name] for field in fields for name in _PAGE_FIELDS)
        if numbered and sum(word.isalpha() for word in "".join(t.text or "" for t in paragraph.iter(f"{W}t")).split()) < 3:
            paragraph.getparent().remove(paragraph)
    return root
