"""A reader of tables in text files (CSV and the like): a line for each row."""

import csv
import io
from collections.abc import Iterable, Sequence

from app.domain.blocks import BlockKind
from app.domain.errors import SourceUnreadable
from retrieval.corpora.extract import Extract
from retrieval.corpora.marks import mark
from retrieval.corpora.plain import decode_text

_SAMPLE = 16_384
_DELIMITERS = ",;\t|"
_MAX_FIELD = 1 << 20


def join_cells(cells: Iterable[str]) -> str:
    """Return a row with bars between cells. Empty cells stay, so that columns stay in line, except those at its end."""
    return " | ".join(cells).rstrip(" |")


def join_merged(cells: Sequence[str], merged: bool) -> str:
    """Return a row in which cells that span columns stand in each of them. A title over the whole table stands there once."""
    filled = [cell for cell in cells if cell]
    return mark(BlockKind.ROW, join_cells(filled[:1] if merged and len(set(filled)) == 1 else cells))


def read_table(content: bytes) -> Extract:
    """Read the rows of a table, with bars between cells; the separator of the file is detected."""
    text = decode_text(content)
    csv.field_size_limit(_MAX_FIELD)
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(text[:_SAMPLE], _DELIMITERS)
    except csv.Error:
        dialect = csv.excel
    try:
        rows = [join_cells(" ".join(cell.split()) for cell in row) for row in csv.reader(io.StringIO(text), dialect)]
    except csv.Error as error:
        raise SourceUnreadable(f"is not a table as text ({error})") from error
    return Extract("\n\n".join(mark(BlockKind.ROW, row) for row in rows if row)).read_marks()
