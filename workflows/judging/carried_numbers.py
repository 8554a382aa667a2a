"""Whether texts carry the numbers of a statement: as they stand, rounded, in other units, as a decade or within a range of years,
or as the sum, difference or ratio of some of them.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import combinations, permutations
from math import isfinite

from retrieval.language.numbers import Number
from retrieval.language.quantities import Quantity, QuantityKind, read_quantities
from retrieval.language.spelled_numbers import SCALES
from workflows.checks.reading import is_exact, read_sentence

LEAST_DIGITS = 2
"""A number is the rounded form of another, or computed of two, only where it has so many significant digits."""
MOST_OPERANDS = 16
YEARS = range(1_000, 2_101)
KEPT_TEXTS = 512
"""The texts whose numbers are remembered, with the texts some 2 MB: paragraphs of a report rest on the same passages."""
_LATIN = re.compile("[A-Za-z]")
_OPENS_WITH_SCALE = re.compile(rf"(?:{'|'.join(SCALES)})\b", re.IGNORECASE)
_DECADE = re.compile(r"\b(\d{3}0)['’]?s\b|(\d{3}0)\s*年代")
_YEARS = re.compile(r"\b(\d{4})\s*(?:[-–—~～至到]|to|and)\s*(\d{4})\b")


class CarriedNumbers:
    """The numbers of some texts, read when they are first asked for."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    @cached_property
    def _given(self) -> list[Quantity]:
        return [quantity for text in self._texts for quantity in _list_quantities(text)]

    @cached_property
    def _values(self) -> set[float]:
        read = {number.value for text in self._texts for number in _list_numbers(text)}
        return read | {each.written for each in self._given if each.written}

    @cached_property
    def _known(self) -> set[tuple[QuantityKind, float, str]]:
        return {(each.kind, each.value, each.unit) for each in self._given}

    @cached_property
    def _computed(self) -> list[float]:
        """The sums of two or three exact numbers, and the differences, ratios and shares of two, unless they are too many."""
        operands = sorted(value for value in self._values if is_exact(Number(value, "")) and not _is_year(value))
        if len(operands) > MOST_OPERANDS:
            return []
        sums = [sum(some) for count in (2, 3) for some in combinations(operands, count)]
        return sums + [r for a, b in permutations(operands, 2) for r in (a - b, *((a / b, 100 * a / b) if b else ()))]

    def list_missing(self, statement: str) -> list[str]:
        """Return the exact numbers of a statement that no text carries."""
        said = Counter(number for number in _list_numbers(statement) if is_exact(number))
        if not said:
            return []
        for own in _list_quantities(statement):
            same = (own.kind, own.value, own.unit) in self._known or (own.written and own.written in self._values)
            if same or _is_carried(own, self._given):
                said -= Counter(_list_numbers(statement[own.start : own.end]))
        spans = [*_list_spans(statement)]
        missing = (n for n in said if not (self._has(n.value) or _has_year_within(n.value, spans, self._values)))
        return list(dict.fromkeys(f"{number.value:,.10g}{number.unit}" for number in missing))

    def _has(self, said: float) -> bool:
        """Say whether a number is one of the texts', rounded, or computed of some of them, rounded."""
        if said in self._values:
            return True
        return not _is_year(said) and (_is_rounding(said, self._values) or _is_rounding(said, self._computed))


def _is_carried(own: Quantity, given: Iterable[Quantity]) -> bool:
    """Say whether a quantity is another one of the same kind and unit, rounded."""
    same = (float(each.value) for each in given if (each.kind, each.unit) == (own.kind, own.unit))
    return not _is_year(float(own.value)) and _is_rounding(float(own.value), same)


def _is_year(value: float) -> bool:
    return value.is_integer() and int(value) in YEARS


def _is_rounding(said: float, values: Iterable[float]) -> bool:
    """Say whether `said`, with the significant digits that it shows, is a rounding of one of the values."""
    if not isfinite(said):
        return False
    shown = Decimal(repr(said)).normalize().as_tuple()
    reach = 0.5 * 10.0 ** int(shown.exponent)
    return len(shown.digits) >= LEAST_DIGITS and any(abs(value - said) <= reach for value in values)


def _list_spans(statement: str) -> Iterable[tuple[int, int]]:
    """List the decades and ranges of years that a statement names."""
    for found in _DECADE.finditer(statement):
        first = int(found.group(1) or found.group(2))
        yield first, first + 9
    for found in _YEARS.finditer(statement):
        yield int(found.group(1)), int(found.group(2))


def _has_year_within(said: float, spans: Iterable[tuple[int, int]], values: Collection[float]) -> bool:
    return any(first <= said <= last and any(first <= value <= last for value in values) for first, last in spans)


@lru_cache(maxsize=KEPT_TEXTS)
def _list_quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a text, without a scale that no number stands before ("several million")."""
    return tuple(each for each in read_quantities(text) if not _OPENS_WITH_SCALE.match(text, each.start))


@lru_cache(maxsize=KEPT_TEXTS)
def _list_numbers(text: str) -> tuple[Number, ...]:
    """Return the numbers of a text; several English words that make one number are read together."""
    spelled = [each for each in _list_quantities(text) if each.written and _LATIN.match(text, each.start)]
    for each in spelled:
        text = text[: each.start] + " " * (each.end - each.start) + text[each.end :]
    read = read_sentence(text).numbers
    return *read, *(Number(each.written, "%" if each.unit == "%" else "") for each in spelled)
