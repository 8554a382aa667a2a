"""The text of a Word document, block by block, from its XML.

python-docx leaves out what stands in a content control, in a tracked insertion or in a field. A reader of the document sees it.
"""

from collections.abc import Iterator
from typing import Any

from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph

from retrieval.corpora.table import join_cells

_PARAGRAPH, _TABLE, _ROW, _CELL, _BOX = map(qn, ("w:p", "w:tbl", "w:tr", "w:tc", "w:txbxContent"))
_TEXT = qn("w:t")
_CHARACTERS = {
    qn(name): text for name, text in (("w:tab", "\t"), ("w:ptab", "\t"), ("w:br", "\n"), ("w:cr", "\n"), ("w:noBreakHyphen", "-"))
}
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
"""A second form, for old programs, of what stands before it: of a text box, for example."""
_UNSEEN = frozenset((*map(qn, ("w:pPr", "w:rPr", "w:del", "w:moveFrom", "w:rt")), _FALLBACK))


def list_blocks(element: Any, document: Any) -> Iterator[str]:
    """Yield the text of each paragraph and table below `element` of a python-docx `document`, and of text boxes in them.

    An item of a list begins with a dash. A table is one block, with bars between its cells. What is deleted or was moved away in
    tracked changes is left out.
    """
    for block in _find_nearest(element, {_PARAGRAPH, _TABLE}):
        if block.tag == _TABLE:
            yield "\n\n".join(filter(None, _list_rows(block, document)))
        else:
            text = _paragraph_text_of(block)
            yield f"- {text}" if text and _is_item(block, document) else text
            for box in _find_nearest(block, {_BOX}):
                yield from list_blocks(box, document)


def _find_nearest(element: Any, tags: set[str]) -> Iterator[Any]:
    """Yield the elements with these tags below `element`, in order, without those below another one or in what nobody sees."""
    for child in element:
        if child.tag in tags:
            yield child
        elif child.tag not in _UNSEEN:
            yield from _find_nearest(child, tags)


def _paragraph_text_of(paragraph: Any) -> str:
    pieces = _find_nearest(paragraph, {_TEXT, _BOX, *_CHARACTERS})
    return "".join(_CHARACTERS.get(piece.tag, piece.text or "") for piece in pieces if piece.tag != _BOX).strip()


def _is_item(paragraph: Any, document: Any) -> bool:
    style = Paragraph(paragraph, document).style
    name = style.name or "" if style is not None else ""
    numbered = paragraph.pPr is not None and paragraph.pPr.numPr is not None and not name.startswith(("Heading", "Title"))
    return numbered or name.startswith("List")


def _list_rows(table: Any, document: Any) -> Iterator[str]:
    """Yield the rows of a table. A cell that spans rows gives its text in each of them, one that spans columns only once."""
    above: dict[int, str] = {}
    for row in _find_nearest(table, {_ROW}):
        cells: dict[int, str] = {}
        column = row.grid_before
        for cell in _find_nearest(row, {_CELL}):
            goes_on = cell.vMerge == "continue"
            cells[column] = above.get(column, "") if goes_on else " ".join(" ".join(list_blocks(cell, document)).split())
            column += cell.grid_span
        yield join_cells(cells.values())
        above = cells
