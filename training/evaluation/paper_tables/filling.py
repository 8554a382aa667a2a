"""A paper's table, filled: its rows and the runs' own, with cells, paired differences, and the runs that fill nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.domain.missing import Missing
from training.evaluation.harness.comparison import Difference, compare_figure, list_differences, pair_scores
from training.evaluation.paper_tables.cells import Cell, average_cells, figure_of, fill_cell, scored_of, why_unfit
from training.evaluation.paper_tables.description import PaperColumn, PaperRow, PaperTable
from training.evaluation.paper_tables.labels import NAME_MARK, LabelledRun

OWN_ROWS = "Other runs given"
JUDGING = ("variant", "judge", "judge's prompts", "how much of a report the judge is shown")


@dataclass(frozen=True, slots=True)
class FilledRow:
    """A row under one label, with its cells by column id. `published` is empty where the paper has no such row."""

    row: PaperRow
    label: str
    cells: Mapping[str, Cell]

    @property
    def name(self) -> str:
        """The row's name, with the part of the label that tells it from others of the row."""
        own = self.label.removeprefix(self.row.id).removeprefix(NAME_MARK)
        return f"{self.row.name}: {own}" if own else self.row.name


@dataclass(frozen=True, slots=True)
class RowDifference:
    """The paired difference of a cell from the baseline's. `found` is in the figure's unit; `scale` makes it the column's."""

    name: str
    column: PaperColumn
    found: Difference

    @property
    def scale(self) -> float:
        """What a difference of the figure is multiplied by."""
        return -self.column.scale if self.column.complement else self.column.scale


@dataclass(frozen=True, slots=True)
class FilledTable:
    """A filled table. `unused` says of each run that fills no cell why, by LABEL=FOLDER."""

    name: str
    table: PaperTable
    rows: Sequence[FilledRow]
    runs: Sequence[LabelledRun]
    unused: Mapping[str, str]
    differences: Sequence[RowDifference]


def fill_table(name: str, table: PaperTable, runs: Sequence[LabelledRun]) -> FilledTable:
    """Fill every cell that one of the runs fits.

    Raises:
        InvalidInput: two runs fit one cell.
    """
    rows = [_fill_row(table, row, label, runs) for row, label in _list_rows(table, runs)]
    for column in table.columns:
        rows = _mark_incomparable(table, column, rows)
    used = {id(cell.run) for row in rows for cell in row.cells.values() if cell.run}
    known = {row.id for row in table.rows}
    rows = [_average_columns(table, row) for row in rows if row.row.id in known or _is_filled(row)]
    unused = {f"{run.label}={run.folder}": _why_unused(table, run) for run in runs if id(run) not in used}
    return FilledTable(name, table, rows, runs, unused, _list_differences_from_baseline(table, rows))


def _is_filled(row: FilledRow) -> bool:
    return any(cell.run for cell in row.cells.values())


def _list_rows(table: PaperTable, runs: Sequence[LabelledRun]) -> list[tuple[PaperRow, str]]:
    """List the paper's rows, each once for every label of it, then those that only the runs have."""
    labels = list(dict.fromkeys(run.label for run in runs))
    known = {row.id for row in table.rows}
    found = [(row, label) for row in table.rows for label in _labels_of(row, labels)]
    own = [label for label in labels if label.partition(NAME_MARK)[0] not in known]
    return [*found, *((PaperRow(id=label, name=label, group=OWN_ROWS), label) for label in own)]


def _labels_of(row: PaperRow, labels: Sequence[str]) -> list[str]:
    return [label for label in labels if label.partition(NAME_MARK)[0] == row.id] or [row.id]


def _fill_row(table: PaperTable, row: PaperRow, label: str, runs: Sequence[LabelledRun]) -> FilledRow:
    own = [run for run in runs if run.label == label]
    cells = {column.id: fill_cell(column, row, own) for column in table.columns if not column.average}
    return FilledRow(row, label, cells)


def _mark_incomparable(table: PaperTable, column: PaperColumn, rows: Sequence[FilledRow]) -> list[FilledRow]:
    """Mark the cells whose runs cannot be compared with that of the column's first filled cell."""
    filled = [row for row in rows if not column.average and row.cells[column.id].run]
    if not filled:
        return list(rows)
    first = next((row for row in filled if row.row.id == table.baseline), filled[0])
    return [_mark_row(table, column, first, row) for row in rows]


def _mark_row(table: PaperTable, column: PaperColumn, first: FilledRow, row: FilledRow) -> FilledRow:
    one, cell = first.cells[column.id].run, row.cells[column.id]
    if one is None or cell.run is None or row is first:
        return row
    allowed = (*table.differing, *(JUDGING if column.unjudged else ()))
    differing = [what for what in list_differences(one.manifest, cell.run.manifest) if what not in allowed]
    if not differing:
        return row
    marks = (*cell.marks, f"not comparable with {first.name!r}: it differs in {', '.join(differing)}")
    return replace(row, cells={**row.cells, column.id: replace(cell, marks=marks, comparable=False)})


def _average_columns(table: PaperTable, row: FilledRow) -> FilledRow:
    found = {c.id: average_cells([row.cells[part] for part in c.average]) for c in table.columns if c.average}
    return replace(row, cells={**row.cells, **found})


def _why_unused(table: PaperTable, run: LabelledRun) -> str:
    columns = [column for column in table.columns if run.manifest.benchmark in column.benchmarks]
    if not columns:
        return f"no column takes a run of {run.manifest.benchmark}"
    row = next((row for row in table.rows if row.id == run.row), PaperRow(id=run.row, name=run.row))
    return why_unfit(columns[0], row, run) or "another run of its row comes first, or its values are missing"


def _list_differences_from_baseline(table: PaperTable, rows: Sequence[FilledRow]) -> list[RowDifference]:
    """List the differences of each row from the baseline of the same name, over the items that both have."""
    found = []
    for row in rows:
        name = row.label.partition(NAME_MARK)[2]
        base = next((b for b in rows if b.row.id == table.baseline and b.label.partition(NAME_MARK)[2] == name), None)
        if base is not None and row is not base:
            found += [d for c in table.columns if (d := _compare_cells(c, base, row)) is not None]
    return found


def _compare_cells(column: PaperColumn, base: FilledRow, row: FilledRow) -> RowDifference | None:
    one, other = base.cells[column.id], row.cells[column.id]
    if one.run is None or other.run is None or not (one.comparable and other.comparable):
        return None
    figures = figure_of(column, one.run), figure_of(column, other.run)
    pairs = pair_scores(scored_of(column, one.run), scored_of(column, other.run))
    if isinstance(figures[0], Missing) or isinstance(figures[1], Missing) or not pairs:
        return None
    return RowDifference(f"{row.name} – {base.name}", column, compare_figure(column.name, figures[0], pairs))
