"""Do the work of `rubrica eval table` and `rubrica eval tables`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from app.domain.errors import InvalidInput
from infra.cli.execute import say
from training.evaluation.paper_tables.curves import fill_curves, read_training_logs
from training.evaluation.paper_tables.description import PaperTable, list_tables, load_table
from training.evaluation.paper_tables.filling import fill_table
from training.evaluation.paper_tables.labels import read_labelled_runs
from training.evaluation.paper_tables.page import render_curve_page, render_paper_table
from training.evaluation.paper_tables.plain_text import write_csv, write_curve_csv, write_curve_markdown, write_markdown


def show_tables() -> int:
    """Print one line for each table: its name, the paper's number, its title and what fills it."""
    for name in list_tables():
        table = load_table(name)
        takes = sorted({benchmark for column in table.columns for benchmark in column.benchmarks}) or ["training runs"]
        print(f"{name:13} {table.source:12} {table.title} ({', '.join(takes)})")
    return 0


def make_table(name: str, runs: Sequence[str], training: Sequence[str], values: Sequence[str], out: Path) -> int:
    """Fill a table, print it as Markdown, and write it as HTML, Markdown and CSV into the folder `out`."""
    table = load_table(name)
    texts = _fill_figure(table, runs, training, values) if table.panels else _fill_table(name, table, runs, training, values)
    print(texts[".md"])
    for suffix, text in texts.items():
        _write_file(out / f"{name}{suffix}", text)
        print(out / f"{name}{suffix}")
    return 0


def _fill_table(
    name: str, table: PaperTable, runs: Sequence[str], training: Sequence[str], values: Sequence[str]
) -> Mapping[str, str]:
    if training or values:
        raise InvalidInput(f"{table.source} is filled by evaluated runs (--run LABEL=FOLDER), not by training runs")
    filled = fill_table(name, table, read_labelled_runs(runs))
    for run, why in filled.unused.items():
        say(f"{run} fills nothing: {why}")
    return {".html": render_paper_table(filled), ".md": write_markdown(filled), ".csv": write_csv(filled)}


def _fill_figure(table: PaperTable, runs: Sequence[str], training: Sequence[str], values: Sequence[str]) -> Mapping[str, str]:
    if runs:
        raise InvalidInput(f"{table.source} is filled by training runs (--training LABEL=FOLDER), not by evaluated ones")
    curves = fill_curves(table.panels, read_training_logs(training), dict(map(_split_value, values)))
    page, markdown = render_curve_page(table, curves), write_curve_markdown(table, curves)
    return {".html": page, ".md": markdown, ".csv": write_curve_csv(curves)}


def _split_value(given: str) -> tuple[str, str]:
    curve, sign, logged = given.partition("=")
    if not (curve and sign and logged):
        raise InvalidInput(f"{given!r} is no CURVE=NAME")
    return curve, logged


def _write_file(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error
