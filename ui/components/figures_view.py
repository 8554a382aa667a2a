"""Figures that were measured of a model, as tables: a gate's rows with their intervals, and whatever else was measured."""

from collections.abc import Mapping, Sequence
from typing import Any

from ui.components.markup import escape
from ui.language import say, say_name

LOW, HIGH = "low", "high"
DIGITS = 3
LEFT_OUT = frozenset({"curves", "worst"})
"""Too long for a page: the model card has them."""


def figures_html(figures: Mapping[str, Any]) -> str:
    """Return figures as HTML: single values in a line, each list of records as a table."""
    shown = {name: value for name, value in figures.items() if name not in LEFT_OUT and value not in (None, [], {}, "")}
    flat = {name: value for name, value in shown.items() if not _is_table(value)}
    lines = "".join(f"<li><strong>{escape(say_name('measured', name))}</strong> {_cell_html(flat, name)}</li>" for name in flat)
    tables = "".join(table_html(value) for value in shown.values() if _is_table(value))
    return (f'<ul class="r-list">{lines}</ul>' if lines else "") + tables


def table_html(records: Sequence[Mapping[str, Any]]) -> str:
    """Return records as a table: a column for each of their fields, and bounds as an interval beside their value."""
    names = [name for name in dict.fromkeys(name for record in records for name in record) if name not in (LOW, HIGH)]
    shown = [name for name in names if any(record.get(name) not in (None, "", False) for record in records)]
    heads = "".join(f"<th>{escape(say_name('measured', name))}</th>" for name in shown)
    rows = "".join("<tr>" + "".join(f"<td>{_cell_html(record, name)}</td>" for name in shown) + "</tr>" for record in records)
    return f'<div class="r-wide"><table class="r-table"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'


def _cell_html(record: Mapping[str, Any], name: str) -> str:
    value, low, high = record.get(name), record.get(LOW), record.get(HIGH)
    if name == "verdict":
        told = say_name("gate_verdict", str(value).replace(" ", "_"))
        return f'<span class="r-chip {_color_of(str(value))}">{escape(told)}</span>'
    interval = ""
    if name in ("difference", "value") and low is not None and high is not None:
        told = say("models.interval", low=_format(low), high=_format(high))
        interval = f' <span class="r-quiet">{escape(told)}</span>'
    return f"{escape(_format(value))}{interval}"


def _color_of(verdict: str) -> str:
    return {"passed": "full", "refused": "bad"}.get(verdict, "warn")


def _is_table(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and any(isinstance(each, Mapping) for each in value)


def _format(value: object) -> str:
    if isinstance(value, bool):
        return say("models.yes") if value else say("models.no")
    if isinstance(value, float):
        return f"{value:.{DIGITS}g}"
    if isinstance(value, Mapping):
        return say("log.comma").join(f"{name}: {_format(each)}" for name, each in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return say("log.comma").join(map(_format, value))
    return "" if value is None else str(value)
