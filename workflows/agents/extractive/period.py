"""The years a question asks about, as in "before 1900", "from 1861 to 1865", "in the 1930s", "十九世纪以前"."""

import re
from typing import NamedTuple

_YEAR = r"(1[0-9]{3}|20[0-9]{2})"
_ORDINALS = {
    "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "twenty-first": 21,
}  # fmt: skip
_CENTURY = rf"(?:the\s+)?(\d{{2}}(?:th|st)|{'|'.join(_ORDINALS)})[\s-]+century"


class Period(NamedTuple):
    """Years from `first` to `last`, both included; None means open."""

    first: int | None = None
    last: int | None = None

    def __bool__(self) -> bool:
        return self.first is not None or self.last is not None

    def holds(self, year: int | None) -> bool:
        """Whether a year lies in the period. An unknown year does: nothing speaks against it."""
        if year is None:
            return True
        return (self.first is None or year >= self.first) and (self.last is None or year <= self.last)


class PeriodFound(NamedTuple):
    """A period and where in the text it was said."""

    period: Period
    start: int
    end: int


def _shape(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_SPAN = _shape(rf"\b(?:from|between|in)?\s*{_YEAR}\s*(?:-|–|—|to|and|until|through|till)\s*{_YEAR}\b")
_BEFORE = _shape(rf"\b(?:before|prior to|earlier than|up to|until|till|preceding)\s+(?:the\s+year\s+)?{_YEAR}\b(?!s)")
_AFTER = _shape(rf"\b(?:after|later than|following)\s+(?:the\s+year\s+)?{_YEAR}\b(?!s)")
_SINCE = _shape(rf"\b(?:since|from)\s+(?:the\s+year\s+)?{_YEAR}\b(?!s)(?:\s+(?:on|onwards?))?")
_DECADES = _shape(
    r"\b(?:(?:in|during|of|throughout|from|between)\s+)?(?:the\s+)?((?:1[0-9]|20)[0-9]0)s\s*(?:-|–|—|to|and|or|through|until)\s*"
    r"(?:the\s+)?((?:1[0-9]|20)[0-9]0)s\b"
)
_DECADE = _shape(r"\b(?:(?:in|during|of|throughout)\s+)?(?:the\s+)?((?:1[0-9]|20)[0-9]0)s\b")
_IN_CENTURY = _shape(rf"\b(?:(before|until|after|since|in|during|of|throughout)\s+)?{_CENTURY}\b")
_IN_YEAR = _shape(rf"\bin\s+(?:the\s+year\s+)?{_YEAR}\b(?!s)")
_HAN_SPAN = re.compile(rf"{_YEAR}\s*年?\s*(?:至|到|-|–|—)\s*{_YEAR}\s*年?(?:之间|期间)?")
_HAN_BEFORE = re.compile(rf"{_YEAR}\s*年?\s*(?:以前|之前|前)")
_HAN_AFTER = re.compile(rf"{_YEAR}\s*年?\s*(?:以后|之后|以来|后)")
_HAN_DECADE = re.compile(r"((?:1[0-9]|20)[0-9]0)\s*年代")


def find_period(text: str) -> PeriodFound | None:
    """The first period a question states, or None.

    A lone year ("in 1832") is a term, not a period: later sources write of it too. `find_year` reads it.
    """
    for read in (_read_span, _read_bounds, _read_century, _read_decade):
        found = read(text)
        if found:
            return found
    return None


def find_year(text: str) -> PeriodFound | None:
    """The one year in which a text says that something was."""
    match = _IN_YEAR.search(text)
    return PeriodFound(Period(int(match.group(1)), int(match.group(1))), match.start(), match.end()) if match else None


def _read_span(text: str) -> PeriodFound | None:
    match = _SPAN.search(text) or _HAN_SPAN.search(text)
    if match is None:
        return None
    first, last = sorted((int(match.group(1)), int(match.group(2))))
    return PeriodFound(Period(first, last), match.start(), match.end())


def _read_bounds(text: str) -> PeriodFound | None:
    if match := _BEFORE.search(text) or _HAN_BEFORE.search(text):
        inclusive = match.group().lower().startswith(("up to", "until", "till"))
        return PeriodFound(Period(last=int(match.group(1)) - (not inclusive)), match.start(), match.end())
    if match := _AFTER.search(text):
        return PeriodFound(Period(first=int(match.group(1)) + 1), match.start(), match.end())
    if match := _SINCE.search(text) or _HAN_AFTER.search(text):
        return PeriodFound(Period(first=int(match.group(1))), match.start(), match.end())
    return None


def _read_century(text: str) -> PeriodFound | None:
    match = _IN_CENTURY.search(text)
    if match is None:
        return None
    named = match.group(2).lower()
    number = _ORDINALS.get(named) or int(named[:2])
    first, last = (number - 1) * 100, number * 100 - 1
    edges = {
        "before": Period(last=first - 1),
        "until": Period(last=first - 1),
        "after": Period(first=last + 1),
        "since": Period(first=first),
    }
    return PeriodFound(edges.get((match.group(1) or "").lower(), Period(first, last)), match.start(), match.end())


def _read_decade(text: str) -> PeriodFound | None:
    if match := _DECADES.search(text):
        first, last = sorted((int(match.group(1)), int(match.group(2))))
        return PeriodFound(Period(first, last + 9), match.start(), match.end())
    match = _DECADE.search(text) or _HAN_DECADE.search(text)
    if match is None:
        return None
    first = int(match.group(1))
    return PeriodFound(Period(first, first + (99 if first % 100 == 0 else 9)), match.start(), match.end())
