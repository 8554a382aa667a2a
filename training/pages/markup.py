"""The HTML parts of pages. Every shown value is escaped text, never markup."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files

from app.domain.missing import Missing
from training.evaluation.intervals import Interval
from training.rewards.score import Score

SHOWN_DIGITS = 4


def render_document(title: str, parts: Sequence[str], refresh: int = 0) -> str:
    """Render a page of these parts; with `refresh`, browsers load it again after so many seconds."""
    again = f'<meta http-equiv="refresh" content="{refresh}">' if refresh else ""
    style = files("training.pages").joinpath("page.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"{again}<title>{escape(title)}</title><style>{style}</style></head><body><main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main></body></html>\n"
    )


def format_number(score: Score) -> str:
    """Format a value with its digits; a dash where it is missing."""
    return "–" if isinstance(score, Missing) else f"{score:.{SHOWN_DIGITS}f}"


def format_interval(interval: Interval | Missing) -> str:
    """Format the bounds of an interval, or the reason why there are none."""
    return (
        interval.reason if isinstance(interval, Missing) else f"{format_number(interval.low)} to {format_number(interval.high)}"
    )


def render_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Render a table; every cell is text."""
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"
