"""What belongs together in a passage: a list with the line that opens it, and a question with the answer below it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workflows.agents.brief.units import Unit, UnitKind


def group_units(units: Sequence[Unit]) -> Iterator[Unit]:
    """Yield the units of a passage, numbered by lists and by items; what opens a list stands `before` each unit of it."""
    at = group = item = 0
    while at < len(units):
        first = units[at]
        end = _find_end(units, at)
        if end == at + 1:
            yield first
            at = end
            continue
        group += 1
        for unit in units[at:end]:
            item += unit.is_item or unit is first
            opener = first if first.opens and unit is not first else None
            yield replace(unit, before=unit.before or opener, group=group, item=item)
        at = end


def _find_end(units: Sequence[Unit], at: int) -> int:
    """Return where the list or the answer ends that begins with a unit; a unit by itself ends after it."""
    first, end = units[at], at + 1
    if first.asks:
        while end < len(units) and _is_answer(units, at, end):
            end += 1
    elif first.opens or first.is_item:
        in_item = first.is_item
        while end < len(units) and (units[end].is_item or (in_item and _goes_on(units[end - 1], units[end]))):
            in_item = True
            end += 1
        if end == at + 1 and first.opens and end < len(units) and units[end].kind is not UnitKind.ROW:
            end += 1
    return end


def _is_answer(units: Sequence[Unit], question: int, at: int) -> bool:
    """Say whether a unit is of the paragraph below a question."""
    return not units[at].asks and (at == question + 1 or _goes_on(units[at - 1], units[at]))


def _goes_on(unit: Unit, following: Unit) -> bool:
    """Say whether a unit is of the same paragraph as the one before it, and begins no item."""
    between = following.passage.text[unit.end : following.start]
    return following.kind is UnitKind.SENTENCE and not following.is_item and "\n\n" not in between
