"""The page of a cycle's data checks, as HTML and as Markdown."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from app.domain.retraining import DataChecks, StepOutcome
from app.models.service.cycle_order import StepKind
from app.models.service.step_papers import PAPERS
from training.folders import replace_file
from training.pages.markup import render_document, render_table

TITLE, PAGE = "Checks of the preferences", "checks.html"
NOT_KNOWN = "not known"


class CheckTable(NamedTuple):
    """A table of the page."""

    title: str
    head: tuple[str, str]
    rows: Sequence[tuple[str, str]]


def write_pages(folder: Path, outcome: StepOutcome, checks: DataChecks) -> None:
    """Write what was found, beside what the plan wants."""
    tables = list_tables(outcome, checks)
    verdict = f"<p><strong>{escape(outcome.verdict)}</strong> {escape(outcome.detail)}</p>"
    parts = [f"<h2>{table.title}</h2>{render_table(table.head, table.rows)}" for table in tables]
    replace_file(folder / PAGE, render_document(TITLE, [f"<h1>{TITLE}</h1>{verdict}", *parts]).encode())
    text = [f"# {TITLE}", f"**{outcome.verdict}** {outcome.detail}".rstrip(), *map(_render_markdown, tables)]
    replace_file(folder / PAPERS[StepKind.CHECK], ("\n\n".join(text) + "\n").encode())


def list_tables(outcome: StepOutcome, checks: DataChecks) -> list[CheckTable]:
    """Return the tables of what was found, left out and wanted."""
    figures = outcome.figures
    found = [(name.replace("_", " "), _show_found(name, figures)) for name in figures if name != "left_out"]
    wanted = [(name.replace("_", " "), _show(value)) for name, value in checks.model_dump().items()]
    return [
        CheckTable("Found", ("", ""), found),
        CheckTable("Left out", ("because", "votes"), [(why, str(count)) for why, count in figures["left_out"].items()]),
        CheckTable("Wanted by the plan", ("", ""), wanted),
    ]


def _render_markdown(table: CheckTable) -> str:
    lines = "\n".join(f"| {' | '.join(row)} |" for row in (table.head, ("---", "---"), *table.rows))
    return f"## {table.title}\n\n{lines}"


def _show_found(name: str, figures: Mapping[str, object]) -> str:
    value = figures[name]
    if name == "agreement" and not figures["judged_by_two"]:
        return NOT_KNOWN
    if isinstance(value, list):
        return "{} ({} to {})".format(*map(_show_share, value)) if value else NOT_KNOWN
    return _show(value)


def _show_share(share: float) -> str:
    return f"{share:.2f}".removeprefix("0")


def _show(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
