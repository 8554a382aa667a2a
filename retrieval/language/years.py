"""The years that a question asks about: "between 1890 and 1900", "the 1930s", "since 1990", "1990年代", "2010年以来"."""

import re
from typing import NamedTuple

_YEAR = r"(?<![\d.,$€£¥-])(1[5-9]\d\d|20\d\d)(?![\d%]|[.,]\d)"
_SPAN = re.compile(rf"{_YEAR}(?P<decade>['’]?s\b|年代)?")
_LEAD = r"\s+(?:the\s+)?(?:year\s+)?$"
_SINCE = re.compile(rf"(?:since|from){_LEAD}", re.IGNORECASE)
_AFTER = re.compile(rf"after{_LEAD}", re.IGNORECASE)
_UNTIL = re.compile(rf"(?:until|till|up\s+to|by){_LEAD}", re.IGNORECASE)
_BEFORE = re.compile(rf"before{_LEAD}", re.IGNORECASE)
_SINCE_ZH = re.compile(r"年?(?:以来|起)")
_AFTER_ZH = re.compile(r"年?(?:以后|之后)")
_UNTIL_ZH = re.compile(r"年?为止")
_BEFORE_ZH = re.compile(r"年?(?:以前|之前)")


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


def remove_years(text: str) -> str:
    """Return a text without the years that it names."""
    return " ".join(_SPAN.sub(" ", text).split())


def _span_of(found: re.Match[str], text: str) -> YearSpan:
    year, before = int(found.group(1)), text[: found.start()]
    if found["decade"]:
        return YearSpan(year, year + (99 if year % 100 == 0 else 9))
    if _SINCE.search(before) or _SINCE_ZH.match(text, found.end()):
        return YearSpan(year, None)
    if _AFTER.search(before) or _AFTER_ZH.match(text, found.end()):
        return YearSpan(year + 1, None)
    if _UNTIL.search(before) or _UNTIL_ZH.match(text, found.end()):
        return YearSpan(None, year)
    if _BEFORE.search(before) or _BEFORE_ZH.match(text, found.end()):
        return YearSpan(None, year - 1)
    return YearSpan(year, year)
