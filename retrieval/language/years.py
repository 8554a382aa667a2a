"""The years that a question asks about: "between 1890 and 1900", "the 1930s", "since 1990", "1990年代", "2010年以来"."""

import re
from typing import NamedTuple

_YEAR = r"(?<![\d.,$€£¥-])(1[5-9]\d\d|20\d\d)(?![\d%]|[.,]\d)"
_SPAN = re.compile(rf"{_YEAR}(?P<decade>['’]?s\b|年代)?")
_FROM = re.compile(r"(?:since|after|from)\s+(?:the\s+)?(?:year\s+)?$", re.IGNORECASE)
_UNTIL = re.compile(r"(?:before|until|till|up\s+to|by)\s+(?:the\s+)?(?:year\s+)?$", re.IGNORECASE)
_SINCE_ZH = re.compile(r"年?(?:以来|以后|之后|起)")
_BEFORE_ZH = re.compile(r"年?(?:以前|之前|为止)")


class YearSpan(NamedTuple):
    """The first and the last year, both included; None is open."""

    first: int | None
    last: int | None


def find_years(text: str) -> YearSpan | None:
    """Return the span of all years that a text names; None where it names none. Amounts and long numbers are no years."""
    spans = [_span_of(found, text) for found in _SPAN.finditer(text)]
    if not spans:
        return None
    if len(spans) == 1:
        return spans[0]
    years = [year for span in spans for year in span if year is not None]
    return YearSpan(min(years), max(years))


def _span_of(found: re.Match[str], text: str) -> YearSpan:
    year, before = int(found.group(1)), text[: found.start()]
    if found["decade"]:
        return YearSpan(year, year + (99 if year % 100 == 0 else 9))
    if _FROM.search(before) or _SINCE_ZH.match(text, found.end()):
        return YearSpan(year, None)
    if _UNTIL.search(before) or _BEFORE_ZH.match(text, found.end()):
        return YearSpan(None, year)
    return YearSpan(year, year)
