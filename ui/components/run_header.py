"""The head of every page about one run: its question, its state, and the way between progress and report."""

import streamlit as st

from ui.components.markup import text
from ui.models import Run
from ui.wording import EFFORT, LANGUAGE, STATUS

LONG_QUESTION = 160
NO_RUN = '<div class="r-hero"><h1>No run chosen</h1><p class="r-lead">Ask a question, or choose a run from the history.</p></div>'
PAGES = (("views/watch.py", "Progress"), ("views/read.py", "Report"))


def header_html(run: Run, title: str = "") -> str:
    """Status, options and question; the question is small beside a `title` of the page's own, and left out if it is the same."""
    options = (EFFORT.get(run.query.effort, run.query.effort), LANGUAGE.get(run.query.language, run.query.language))
    size = " small" if title else " long" if len(run.query.question) > LONG_QUESTION else ""
    return (
        f'<div class="r-eyebrow"><span class="r-pill {text(run.status)}">{text(STATUS.get(run.status, run.status))}</span>'
        + "".join(f"<span>{text(option)}</span>" for option in options)
        + f"<span>asked {run.created_at:%-d %B %Y, %H:%M} UTC</span></div>"
        + (f'<h1 class="r-question{size}">{text(run.query.question)}</h1>' if run.query.question != title else "")
    )


def show(run: Run, here: str, title: str = "") -> None:
    """The head, with links to the run's two pages; `here` is the present one, `title` what it shows as its own title."""
    st.html(header_html(run, title))
    with st.container(horizontal=True, gap="medium", key="run_tabs"):
        for page, label in PAGES:
            if page == here:
                st.html(f'<span class="r-tab">{label}</span>', width="content")
            else:
                st.page_link(page, label=label, query_params={"run": run.id})
