"""Disagreements and numbers in a report's sources: both come from stored quotes, each with its citation."""

from enum import StrEnum

from app.domain.evidence import Quote
from app.domain.value import Value


class DisagreementKind(StrEnum):
    """Sources against each other, or a source against the report's own sentence."""

    SOURCES = "sources"
    CLAIM = "claim"


class Side(Value):
    """One voice of a disagreement. `n` is its number in the report; null where the report does not cite it."""

    n: int | None
    quote: Quote


class Disagreement(Value):
    """The matter in dispute (for a claim: the report's sentence), and the sides; `reason` is the judge's."""

    kind: DisagreementKind
    about: str
    sides: tuple[Side, ...]
    reason: str = ""


class Figure(Value):
    """A number with its unit as a quote gives it. `value` is in `unit` ("12 million" is 12,000,000); `year` where it is named."""

    text: str
    value: float
    unit: str
    year: int | None
    statement: str
    n: int


class Point(Value):
    """One bar of a chart, with its citation."""

    label: str
    value: float
    text: str
    n: int


class Chart(Value):
    """Comparable numbers: one subject and unit over at least three years. `svg` shows the same, without scripts."""

    title: str
    unit: str
    points: tuple[Point, ...]
    svg: str
