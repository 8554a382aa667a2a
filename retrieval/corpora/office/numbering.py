"""The automatic numbers of a Word document's paragraphs, as Word shows them: "2.1", "(b)", "Article IV"."""

import re
from typing import Any

from retrieval.corpora.list_numbers import write_number
from retrieval.corpora.office.styles import Styles, W, read_value

_LEVELS = 9
_PLACE = re.compile(r"%([1-9])")


class Numbering:
    """The counters of a document's lists. Ask for the paragraphs in their order: each question counts on."""

    def __init__(self, part: Any, styles: Styles) -> None:
        found = [] if part is None else list(part)
        self._styles = styles
        self._abstract = {e.get(f"{W}abstractNumId"): e for e in found if e.tag == f"{W}abstractNum"}
        self._lists = {e.get(f"{W}numId"): e for e in found if e.tag == f"{W}num"}
        self._counts: dict[str, list[int | None]] = {}
        self._started: set[tuple[str, int]] = set()

    def count_paragraph(self, paragraph: Any, style: str | None) -> str:
        """Return a paragraph's number or "-" for a bullet; empty where it has none."""
        number, level = self._find_list(paragraph, style)
        shape = self._find_level(number, level)
        if shape is None:
            return ""
        counts = self._count(number, level)
        if read_value(shape, "numFmt") == "bullet":
            return "-"
        legal = read_value(shape, "isLgl") not in (None, "0", "false")
        return _PLACE.sub(
            lambda place: self._write(number, int(place.group(1)) - 1, counts, legal), read_value(shape, "lvlText") or ""
        ).strip()

    def _find_list(self, paragraph: Any, style: str | None) -> tuple[str, int]:
        number, level = read_value(paragraph, "pPr/numPr/numId"), read_value(paragraph, "pPr/numPr/ilvl")
        if number is None:
            number = self._styles.find_value(style, "pPr/numPr/numId") or "0"
            level = level or self._find_level_of_style(number, style) or self._styles.find_value(style, "pPr/numPr/ilvl")
        return number, min(int(level or 0), _LEVELS - 1)

    def _find_level_of_style(self, number: str, style: str | None) -> str | None:
        levels = self._levels_of(number)
        return next((level.get(f"{W}ilvl") for level in levels if read_value(level, "pStyle") == style), None)

    def _abstract_of(self, number: str, depth: int = 0) -> str:
        """Return the id of the list's shape, also where that is named by a style."""
        found = read_value(self._lists.get(number), "abstractNumId") or ""
        link = read_value(self._abstract.get(found), "numStyleLink")
        linked = self._styles.find_value(link, "pPr/numPr/numId") if link else None
        return self._abstract_of(linked, depth + 1) if linked and linked != number and depth < _LEVELS else found

    def _levels_of(self, number: str) -> list[Any]:
        shape = self._abstract.get(self._abstract_of(number))
        return [] if shape is None else list(shape.iter(f"{W}lvl"))

    def _find_level(self, number: str, level: int) -> Any:
        override = self._find_override(number, level)
        own = override.find(f"{W}lvl") if override is not None else None
        return own if own is not None else next((e for e in self._levels_of(number) if e.get(f"{W}ilvl") == str(level)), None)

    def _find_override(self, number: str, level: int) -> Any:
        found = self._lists.get(number)
        overrides = [] if found is None else found.iter(f"{W}lvlOverride")
        return next((override for override in overrides if override.get(f"{W}ilvl") == str(level)), None)

    def _count(self, number: str, level: int) -> list[int | None]:
        """Count a paragraph, and begin anew what is below it."""
        counts = self._counts.setdefault(self._abstract_of(number), [None] * _LEVELS)
        restart = read_value(self._find_override(number, level), "startOverride")
        if restart and (number, level) not in self._started:
            counts[level] = int(restart)
        else:
            before = counts[level]
            counts[level] = self._start_of(number, level) if before is None else before + 1
        self._started.add((number, level))
        for below in range(level + 1, _LEVELS):
            after = read_value(self._find_level(number, below), "lvlRestart")
            if not after or level < int(after):
                counts[below] = None
        return counts

    def _start_of(self, number: str, level: int) -> int:
        return int(read_value(self._find_level(number, level), "start") or 1)

    def _write(self, number: str, level: int, counts: list[int | None], legal: bool) -> str:
        counted, shape = counts[level], self._find_level(number, level)
        value = self._start_of(number, level) if counted is None else counted
        return write_number(value, "decimal" if legal else read_value(shape, "numFmt") or "decimal")
