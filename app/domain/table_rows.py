"""A table's row as one statement: each cell under the head of its column, as `Year: 1890; Wages: they rose`."""

import re
from collections.abc import Sequence
from itertools import zip_longest

from app.domain.citations import MARKER

_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[ \t]*\|[ \t:|-]*-[ \t:|-]*$")
_MARKUP = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|`|\\(?=[^\w\s])")


def find_row(body: str, place: int) -> str:
    """Return the row at this place of a Markdown text, without citations and markup; empty outside of a table's rows."""
    start = body.rfind("\n", 0, place) + 1
    line = body[start:].partition("\n")[0]
    if not _is_row(line) or _RULE.match(line):
        return ""
    above = body[:start].splitlines()
    heads = _find_heads(above)
    cells = (f"{head}: {cell}" if head else cell for head, cell in zip_longest(heads, _list_cells(line), fillvalue="") if cell)
    return "; ".join(cells)


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def _find_heads(above: Sequence[str]) -> list[str]:
    """Return the heads of the columns from the lines above a row: they stand over the rule."""
    for place in range(len(above) - 1, 0, -1):
        if not _is_row(above[place]):
            break
        if _RULE.match(above[place]):
            return _list_cells(above[place - 1])
    return []


def _list_cells(line: str) -> list[str]:
    cells = [" ".join(_MARKUP.sub("", MARKER.sub("", cell)).split()) for cell in _BAR.split(line.strip())]
    return cells[1:-1] if cells and not cells[-1] else cells[1:]
