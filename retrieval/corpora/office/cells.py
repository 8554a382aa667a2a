"""The cells of a workbook: their values as their sheet shows them."""

import re
from typing import Any

from retrieval.corpora.office.number_format import BUILT_IN, write_text, write_value
from retrieval.corpora.raised import join_levels

_ADDRESS = re.compile(r"\$?([A-Z]{1,3})\$?(\d+)")
_OFF = ("0", "false")


class CellReader:
    """The reader of cells, with the strings and styles that the cells of a workbook share.

    A formula gives the value that was saved with it. One without gives its own text, and is counted in `unsaved`. `hidden` counts
    the cells whose format shows nothing of what they have.
    """

    def __init__(self, strings: Any, styles: Any, from_1904: bool) -> None:
        self._strings = [] if strings is None else [read_rich_text(item) for item in strings.iter("{*}si")]
        own = {} if styles is None else {f.get("numFmtId"): f.get("formatCode", "") for f in styles.iter("{*}numFmt")}
        shapes = [] if styles is None else styles.findall("{*}cellXfs/{*}xf")
        fonts = [] if styles is None else styles.findall("{*}fonts/{*}font")
        self._formats = [own.get(x.get("numFmtId")) or BUILT_IN.get(int(x.get("numFmtId", 0)), "General") for x in shapes]
        struck = {str(number) for number, font in enumerate(fonts) if is_struck(font)}
        self._struck = [x.get("fontId", "0") in struck for x in shapes]
        self._from_1904 = from_1904
        self.unsaved = self.hidden = 0

    def is_struck(self, cell: Any) -> bool:
        """Say whether a cell's text is struck out."""
        style = int(cell.get("s", 0))
        return style < len(self._struck) and self._struck[style]

    def read(self, cell: Any) -> str:
        """Return the text of a cell (an element `c`) on one line."""
        kind, value, formula = cell.get("t", "n"), cell.findtext("{*}v"), cell.find("{*}f")
        if kind == "inlineStr":
            inline = cell.find("{*}is")
            return "" if inline is None else self._write_text(read_rich_text(inline), cell)
        if formula is not None and not value and kind != "str":
            self.unsaved += 1
            return f"={formula.text}" if formula.text else "(formula)"
        match kind, value:
            case _, None | "":
                return ""
            case "s", _:
                return self._write_text(self._strings[int(value)], cell) if int(value) < len(self._strings) else ""
            case "str", _:
                return self._write_text(" ".join(value.split()), cell)
            case "b", _:
                return "FALSE" if value in _OFF else "TRUE"
            case "n", _:
                return self._count_hidden(value, write_value(value, self._format_of(cell), self._from_1904))
            case "d", _:
                return str(value).removesuffix("T00:00:00").removesuffix("Z").replace("T", " ")
        return " ".join(value.split())

    def _write_text(self, text: str, cell: Any) -> str:
        return self._count_hidden(text, write_text(text, self._format_of(cell)))

    def _count_hidden(self, stored: str, shown: str) -> str:
        self.hidden += not shown and stored.strip("0.") != ""
        return shown

    def _format_of(self, cell: Any) -> str:
        style = int(cell.get("s", 0))
        return self._formats[style] if style < len(self._formats) else "General"


def read_rich_text(item: Any) -> str:
    """Return a text with its runs on one line, without struck runs and without the readings of Han characters."""
    pieces: list[tuple[str, str]] = [("", item.findtext("{*}t") or "")]
    for run in item.findall("{*}r"):
        level = run.find("{*}rPr/{*}vertAlign")
        if not is_struck(run.find("{*}rPr")):
            pieces.append((level.get("val", "") if level is not None else "", run.findtext("{*}t") or ""))
    return " ".join(join_levels(pieces).split())


def is_struck(font: Any) -> bool:
    """Say whether a font strikes its text out."""
    found = font.find("{*}strike") if font is not None else None
    return found is not None and found.get("val", "1") not in _OFF


def read_address(address: str) -> tuple[int, int] | None:
    """Return row and column of "B2", from 1; None where it is no address."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return None
    column = 0
    for letter in found.group(1):
        column = column * 26 + ord(letter) - 64
    return int(found.group(2)), column
