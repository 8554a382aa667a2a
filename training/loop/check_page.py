"""The page of a cycle's data checks."""

from html import escape
from pathlib import Path

from app.domain.retraining import DataChecks, StepOutcome
from training.folders import replace_file
from training.pages.markup import render_document, render_table

TITLE = "Checks of the preferences"


def write_page(path: Path, outcome: StepOutcome, checks: DataChecks) -> None:
    """Write what was found, beside what the plan wants."""
    found = [[name.replace("_", " "), _show(value)] for name, value in outcome.figures.items() if name != "left_out"]
    left_out = [[why, str(count)] for why, count in outcome.figures["left_out"].items()]
    wanted = [[name.replace("_", " "), _show(value)] for name, value in checks.model_dump().items()]
    parts = [
        f"<h1>{TITLE}</h1><p><strong>{escape(outcome.verdict)}</strong> {escape(outcome.detail)}</p>",
        "<h2>Found</h2>" + render_table(["", ""], found),
        "<h2>Left out</h2>" + render_table(["because", "votes"], left_out),
        "<h2>Wanted by the plan</h2>" + render_table(["", ""], wanted),
    ]
    replace_file(path, render_document(TITLE, parts).encode())


def _show(value: object) -> str:
    if isinstance(value, list):
        return " to ".join(_show(each) for each in value)
    return f"{value:.3f}" if isinstance(value, float) else str(value)
