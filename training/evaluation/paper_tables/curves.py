"""The curves of training runs over their steps, read from `metrics.jsonl` in each run's folder.

A line is an object with `step`, and values by name beside it or in objects within it: `{"step": 3, "reward": 0.4}` or
`{"step": 3, "values": {"reward": 0.4}}`. A last line that is not whole yet is left for later. Of a step that was done again the
last line counts.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from app.domain.errors import InvalidInput, NotFound
from app.domain.missing import Missing
from training.evaluation.paper_tables.description import CurvePanel, LoggedCurve
from training.evaluation.paper_tables.labels import split_label

METRICS = "metrics.jsonl"
STEP = "step"
MOST_NAMES = 12
NO_MEANS = frozenset({"std", "sd", "min", "max", "weight", "weights", "lambda"})
"""Parts of names of values that belong to a curve's name and are not its mean."""
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class TrainingLog:
    """What one training run logged: points of step and value, by name."""

    label: str
    folder: Path
    values: Mapping[str, Points]


@dataclass(frozen=True, slots=True)
class FilledCurve:
    """One curve of one training run: the name it was logged under and its points, or why there are none."""

    panel: str
    curve: LoggedCurve
    label: str
    logged: str
    points: Points | Missing


def read_training_logs(given: Sequence[str]) -> list[TrainingLog]:
    """Read the training runs of these LABEL=FOLDER options; a folder without a label is named by itself.

    Raises:
        NotFound: a folder holds no log.
        InvalidInput: a log cannot be read, or two have one label.
    """
    found = [_read_log(label or folder.name, folder) for label, folder in map(split_label, given)]
    labels = [log.label for log in found]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise InvalidInput(f"two training runs are labelled {twice!r}; give one of them another label")
    return found


def fill_curves(panels: Sequence[CurvePanel], logs: Sequence[TrainingLog], chosen: Mapping[str, str]) -> list[FilledCurve]:
    """Fill every curve of the panels from every log. `chosen` gives the logged name of a curve by its id.

    Raises:
        InvalidInput: a chosen id is no curve of these panels.
    """
    known = [curve.id for panel in panels for curve in panel.curves]
    if unknown := next((name for name in chosen if name not in known), None):
        raise InvalidInput(f"there is no curve {unknown!r}; there are {', '.join(known) or 'none'}")
    return [
        _fill_curve(panel.name, curve, log, chosen.get(curve.id)) for panel in panels for curve in panel.curves for log in logs
    ]


def _fill_curve(panel: str, curve: LoggedCurve, log: TrainingLog, chosen: str | None) -> FilledCurve:
    name = chosen if chosen is not None else find_logged(curve, log.values)
    if name is None or name not in log.values:
        wanted = chosen or " or ".join(curve.logged)
        there = ", ".join([*log.values][:MOST_NAMES]) + (", ..." if len(log.values) > MOST_NAMES else "")
        why = Missing(f"nothing is logged as {wanted}; there are {there or 'no values'} (`--value` chooses)")
        return FilledCurve(panel, curve, log.label, "", why)
    return FilledCurve(panel, curve, log.label, name, log.values[name])


def find_logged(curve: LoggedCurve, values: Mapping[str, Points]) -> str | None:
    """Return the name under which a curve is logged: one of its names, else the only one that has such a name as a part."""
    if exact := next((name for name in curve.logged if name in values), None):
        return exact
    for wanted in curve.logged:
        near = [name for name in values if wanted in (parts := name.split("/")) and not NO_MEANS.intersection(parts)]
        if len(near) == 1:
            return near[0]
    return None


def _read_log(label: str, folder: Path) -> TrainingLog:
    path = folder / METRICS if folder.is_dir() else folder
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError as error:
        raise NotFound(f"there is no {METRICS} in {folder}; `rubrica train` makes it") from error
    values: dict[str, dict[float, float]] = {}
    for name, point in chain.from_iterable(_read_line(path, number, line) for number, line in enumerate(lines, 1) if line):
        values.setdefault(name, {}).update([point])
    return TrainingLog(label, folder, {name: sorted(points.items()) for name, points in values.items()})


def _read_line(path: Path, number: int, line: bytes) -> list[tuple[str, tuple[float, float]]]:
    try:
        row = json.loads(line)
        step = float(row[STEP])
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidInput(f"{path}, row {number}: it is no object with a {STEP}") from error
    return [(name, (step, value)) for name, value in _list_numbers(row) if name != STEP]


def _list_numbers(row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """List the finite numbers of a row, also those of objects in it, by their own names."""
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _list_numbers(value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            yield name, float(value)
