"""Tables of a page: a short cell that spans rows or columns stands in each of them, since a row is read alone."""

from copy import deepcopy

from lxml.html import HtmlElement

_LONGEST = 80
"""A longer cell is a text beside a table, or the whole page, laid out in one."""
_WIDEST = 100
_LONGEST_LIST = 400
_ITEMS = ("li", "dd", "dt")
_BLOCKS = (*_ITEMS, "div", "p", "br", "ul", "ol", "dl")
_MARK = "\ufffc"
Spans = dict[int, tuple[HtmlElement, int]]
"""By column, the cells that go on in the next row, each with the rows that it still spans."""


def spread_cells(page: HtmlElement) -> None:
    """Copy spanning cells into the rows and columns that they span, but not one that fills its row alone: a title."""
    for table in page.iter("table"):
        below: Spans = {}
        for row in list(table.iter("tr")):
            if next(row.iterancestors("table")) is table:
                below = _spread_row(row, below)


def flatten_cells(page: HtmlElement) -> None:
    """Write the blocks and lists of a cell as its text: the extraction of the main text drops them where they are links."""
    for cell in list(page.iter("td", "th")):
        blocks = list(cell.iter(*_BLOCKS))
        if not blocks or len(str(cell.text_content())) > _LONGEST_LIST or next(cell.iter("table", "pre"), None) is not None:
            continue
        for block in blocks:
            block.text = f"{_MARK if block.tag in _ITEMS else ' '}{block.text or ''}"
            block.tail = f" {block.tail or ''}"
        items = (" ".join(item.split()) for item in str(cell.text_content()).split(_MARK))
        text = "; ".join(filter(None, items))
        for child in list(cell):
            cell.remove(child)
        cell.text = text


def _spread_row(row: HtmlElement, above: Spans) -> Spans:
    """Fill a row with the cells that go on from above, by their columns, and return those that go on below, with their rows."""
    cells = [cell for cell in row if cell.tag in ("td", "th")]
    alone = len(cells) + len(above) == 1
    below: Spans = {}
    column, last = 0, None
    while cells or column in above:
        if column in above:
            cell, rows = above[column]
            span, placed = 1, _copy_cell(cell)
            row.insert(0 if last is None else row.index(last) + 1, placed)
        else:
            cell = placed = cells.pop(0)
            rows, span = _read_span(cell, "rowspan"), _read_span(cell, "colspan")
        short = len(str(cell.text_content()).strip()) <= _LONGEST and next(cell.iterdescendants("table"), None) is None
        for place in range(1 if alone else min(span, _WIDEST)):
            if place and short:
                placed.addnext(copy := _copy_cell(cell))
                placed = copy
            if rows > 1 and short:
                below[column + place] = (cell, rows - 1)
        last, column = placed, column + span
    return below


def _copy_cell(cell: HtmlElement) -> HtmlElement:
    copy = deepcopy(cell)
    copy.tail = None
    for name in ("rowspan", "colspan"):
        copy.attrib.pop(name, None)
    return copy


def _read_span(cell: HtmlElement, name: str) -> int:
    stated = cell.get(name, "1").strip()
    return max(int(stated), 1) if stated.isdecimal() and len(stated) < 6 else 1
