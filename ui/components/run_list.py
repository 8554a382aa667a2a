"""Runs in a list, each a way to its page."""

from collections.abc import Sequence

import streamlit as st

from ui.components.markup import text
from ui.models import Run
from ui.wording import STATUS, clock, compact, money

LONGEST_TITLE = 140


def run_rows(runs: Sequence[Run]) -> None:
    """One row a run: its question as a link, then where it stands and what it used."""
    for run in runs:
        with st.container(border=True, key=f"row_{run.id}", gap="xsmall"):
            question = " ".join(run.query.question.split())
            label = question if len(question) <= LONGEST_TITLE else question[:LONGEST_TITLE].rstrip() + "…"
            page = "views/read.py" if run.status == "completed" else "views/watch.py"
            st.page_link(page, label=_plain(label), query_params={"run": run.id})
            st.html(row_html(run))


def row_html(run: Run) -> str:
    """Status, when, how long, what it used."""
    usage = run.usage
    used = f"{compact(usage.model_calls)} model calls · {compact(usage.tool_calls)} searches · {money(usage.cost_microusd)}"
    took = f"<span>took {clock(run.finished_at - run.created_at)}</span>" if run.finished_at else ""
    pill = f'<span class="r-pill {text(run.status)}">{text(STATUS.get(run.status, run.status))}</span>'
    return f'<div class="r-eyebrow">{pill}<span>{run.created_at:%-d %b %Y, %H:%M}</span>{took}<span>{used}</span></div>'


def _plain(label: str) -> str:
    """Labels are Markdown; a question is not."""
    return "".join("\\" + c if c in "\\`*_{}[]()#+-!|<>~$:" else c for c in label)
