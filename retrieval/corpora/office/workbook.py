"""A reader of workbooks: each sheet's name, its rows, then its charts, text boxes and comments."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.domain.blocks import BlockKind
from retrieval.corpora.extract import Extract
from retrieval.corpora.marks import mark
from retrieval.corpora.office.cells import CellReader, read_address, read_rich_text
from retrieval.corpora.office.charts import list_drawings, read_paragraphs
from retrieval.corpora.office.package import OfficePackage, Relation, open_office_package
from retrieval.corpora.table import join_merged

MAX_ROWS = 200_000
"""The most rows of a workbook that are read, over all its sheets."""
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_ON = ("1", "true")
_WIDEST = 99
"""More columns than this are not filled by one cell."""
Rows = dict[int, dict[int, str]]
"""The texts of cells by row and column."""


def read_xlsx(content: bytes) -> Extract:
    """Read a workbook as its sheets show it. Hidden sheets, rows and columns are left out, and a note says so."""
    with open_office_package(content, "a workbook (.xlsx)") as package:
        main = package.find_main()
        book, links = package.parse(main), package.list_relations(main)
        settings = book.find("{*}workbookPr")
        from_1904 = settings is not None and settings.get("date1904") in _ON
        cells = CellReader(package.parse_related(main, "sharedStrings"), package.parse_related(main, "styles"), from_1904)
        reader = _BookReader(package, links, cells)
        blocks = [block for sheet in book.iterfind("{*}sheets/{*}sheet") for block in reader.list_blocks(sheet)]
        reader.finish_notes()
        return package.make_extract("\n\n".join(blocks))


class _BookReader:
    """The reader of the sheets of a workbook, one after the other."""

    def __init__(self, package: OfficePackage, links: Mapping[str, Relation], cells: CellReader) -> None:
        self._package, self._links, self._cells = package, links, cells
        self._left, self._cut = MAX_ROWS, False

    def list_blocks(self, sheet: Any) -> Iterator[str]:
        """Yield the name and the rows of a sheet, then what is drawn on it; nothing of an empty one."""
        link, name = self._links.get(sheet.get(f"{_R}id", "")), sheet.get("name", "")
        if link is None:
            return
        if sheet.get("state", "visible") != "visible":
            self._package.notes.append(f"the hidden sheet {name!r} was not read")
            return
        blocks = [*self._list_rows(link.target, name), *self._list_additions(link.target)]
        yield from [mark(BlockKind.HEADING, name, 1), *blocks] if blocks else []

    def finish_notes(self) -> None:
        """Add the notes on the whole workbook."""
        if self._cells.unsaved:
            self._package.notes.append(f"{self._cells.unsaved:,} formulas have no saved value: the formula itself was read")
        if self._cells.hidden:
            self._package.notes.append(f"cells that their format hides were not read ({self._cells.hidden:,})")
        if self._cut:
            self._package.notes.append(f"only the first {MAX_ROWS:,} rows were read")

    def _list_rows(self, part: str, name: str) -> Iterator[str]:
        rows, spans = self._read_rows(part, name)
        spread = _spread_merged(rows, spans)
        for number, row in sorted(rows.items()):
            text = join_merged([row.get(column, "") for column in range(1, max(row, default=0) + 1)], number in spread)
            if text:
                yield text

    def _read_rows(self, part: str, name: str) -> tuple[Rows, list[str]]:
        """Return the visible cells of a sheet, and its merged ranges. A row that states no place follows the one before it."""
        hidden: set[int] = set()
        rows, spans, at, skipped = Rows(), list[str](), 0, 0
        for element in self._package.iterate(part, "col", "row", "mergeCell"):
            if element.tag.endswith("}col"):
                hidden.update(_find_hidden_columns(element))
            elif element.tag.endswith("}mergeCell"):
                spans.append(element.get("ref", ""))
            else:
                at = int(element.get("r", at + 1))
                if element.get("hidden") in _ON:
                    skipped += 1
                elif self._left > 0:
                    self._left -= 1
                    rows[at] = self._read_cells(element, hidden)
                else:
                    self._cut = True
        if skipped:
            self._package.notes.append(f"{skipped:,} hidden rows of the sheet {name!r} were not read")
        if hidden and any(rows.values()):
            self._package.notes.append(f"hidden columns of the sheet {name!r} were not read")
        return rows, spans

    def _read_cells(self, row: Any, hidden: set[int]) -> dict[int, str]:
        found: dict[int, str] = {}
        column = 0
        for cell in row.iterfind("{*}c"):
            place = read_address(cell.get("r", ""))
            column = place[1] if place else column + 1
            text = self._cells.read(cell) if column not in hidden else ""
            if text and self._cells.is_struck(cell):
                self._package.notes.append("struck-out text was left out")
            elif text:
                found[column] = text
        return found

    def _list_additions(self, part: str) -> Iterator[str]:
        """Yield the text of charts, diagrams, text boxes and comments of a sheet."""
        for drawing in self._package.find_parts(part, "drawing"):
            root = self._package.parse(drawing)
            if root is not None:
                yield from read_paragraphs(root)
                yield from list_drawings(self._package, self._package.list_relations(drawing), root)
        comments = self._package.parse_related(part, "comments")
        for comment in comments.iter("{*}comment") if comments is not None else ():
            text = comment.find("{*}text")
            if text is not None:
                yield f"Comment on {comment.get('ref', '')}: {read_rich_text(text)}"


def _find_hidden_columns(column: Any) -> range:
    """Return the columns that an element `col` hides."""
    hides = column.get("hidden") in _ON
    return range(int(column.get("min", 1)), int(column.get("max", 1)) + 1) if hides else range(0)


def _spread_merged(rows: Rows, spans: list[str]) -> set[int]:
    """Give merged cells their text in each row that has other text and in each column, and return the rows with such cells."""
    spread: set[int] = set()
    for first, last in (tuple(map(read_address, span.partition(":")[::2])) for span in spans):
        text = rows.get(first[0], {}).get(first[1], "") if first and last else ""
        if not text or first is None or last is None:
            continue
        for number in range(first[0], min(last[0], max(rows)) + 1):
            if number == first[0] or rows.get(number):
                spread.add(number)
                rows[number] |= dict.fromkeys(range(first[1], min(last[1], first[1] + _WIDEST) + 1), text)
    return spread
