"""Figures of the quotes that a report cites: numbers with their units, in English, Chinese, German and French.

It takes only what needs no guess: a number directly followed or preceded by a unit, which is no end of a range, and the one year
that its clause names.
"""

import re
from collections.abc import Iterable, Iterator

from app.domain.citations import Citation
from app.domain.units import SHOWN_UNITS
from app.domain.written_numbers import WrittenNumber, find_numbers
from app.reports.nouns import Figure

LONG = 3
"""Letters of a unit's name that is read in any case. A short form is not: mW is no MW, and a single letter may be a scale."""
_SIGNS = {"$": "US$", "US$": "US$", "USD": "US$", "€": "€", "EUR": "€", "£": "£", "GBP": "£", "¥": "¥", "₹": "₹", "CHF": "CHF"}


def _fold_name(name: str) -> str:
    return name.lower() if len(name) >= LONG else name


def _any_of(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_SIGN = re.compile(rf"(?<![A-Za-z])(?P<sign>{_any_of(_SIGNS)})\s?[-−]?$")
_UNITS = {_fold_name(name): unit for name, unit in SHOWN_UNITS.items()}
_SHORT = (name for name in _UNITS if len(name) < LONG and not (len(name) == 1 and name.isascii() and name.isalpha()))
_LONG = (name for name in _UNITS if len(name) >= LONG)
_UNIT = re.compile(rf"[\s-]?(?P<unit>(?i:{_any_of(_LONG)})|{_any_of(_SHORT)})(?![A-Za-zäöüéè²³^])")
_RANGE_BEFORE = re.compile(r"\d\s?(?:[–—~-]|to|bis|à|至|到)\s?[$€£¥₹]?$")
_RANGE_AFTER = re.compile(r"\s?(?:[–—~-]|至|到)\s?[$€£¥₹]?\d")
_CLAUSE = re.compile(r"[^;；。!?！？]+?(?:[;；。!?！？]|(?<!\d (?:Mio|Mrd|Tsd))[.](?=\s|$)|$)")
_YEAR = re.compile(r"(?<![\d,.])(1[5-9]\d\d|20\d\d)(?:\s*年)?(?![\d,.]\d|\d)")
LONGEST = 240


def find_figures(citations: Iterable[Citation]) -> list[Figure]:
    """Return every figure of the cited quotes, in the order of the citations; the same number of the same clause once."""
    found: dict[tuple[str, str, int], Figure] = {}
    for citation in citations:
        for figure in _find_in_quote(citation):
            found.setdefault((figure.text, figure.statement, citation.n), figure)
    return list(found.values())


def _find_in_quote(citation: Citation) -> Iterator[Figure]:
    for clause in _CLAUSE.findall(" ".join(citation.quote.text.split())):
        clause = clause.strip()
        if not clause or len(clause) > LONGEST:
            continue
        read = [(number, *found) for number in find_numbers(clause) if (found := _find_unit(clause, number))]
        taken = {place for _, _, start, end in read for place in range(start, end)}
        years = {int(found.group(1)) for found in _YEAR.finditer(clause) if found.start() not in taken}
        for number, unit, start, end in read:
            yield Figure(
                text=clause[start:end].strip(),
                value=-number.value if number.negative else number.value,
                unit=unit,
                year=next(iter(years)) if len(years) == 1 else None,
                statement=clause,
                n=citation.n,
            )


def _find_unit(clause: str, number: WrittenNumber) -> tuple[str, int, int] | None:
    """Return the unit of a number, and where both begin and end; None without one, and for the ends of a range."""
    before = clause[: number.start]
    if _RANGE_BEFORE.search(before[-6:]) or _RANGE_AFTER.match(clause, number.end):
        return None
    if sign := _SIGN.search(before):
        return _SIGNS[sign["sign"]], sign.start(), number.end
    after = _UNIT.match(clause, number.end)
    return (_UNITS[_fold_name(after["unit"])], number.start, after.end()) if after else None
