"""The head of every page about one run: its question, its state, and links between progress and report."""

import streamlit as st

from rubrica_client.models import Run
from ui.components.markup import escape, hero_html
from ui.language import LANGUAGES, say, say_name, say_time

LONG_QUESTION = 160
PAGES = (("views/watch.py", "header.progress"), ("views/read.py", "header.report"))


def show_no_run() -> None:
    """Draw a page without a run: links to places where one can be chosen."""
    st.html(hero_html(say("header.no_run"), say("header.choose_run")))
    with st.container(horizontal=True, gap="medium"):
        st.page_link("views/ask.py", label=say("ask.title"), icon=":material/edit:")
        st.page_link("views/history.py", label=say("nav.history"), icon=":material/history:")


def pill_html(status: str) -> str:
    """Return a run's status as a coloured word, as HTML."""
    return f'<span class="r-pill {escape(status)}">{escape(say_name("status", status))}</span>'


def header_html(run: Run, title: str = "") -> str:
    """Return status, options and question as HTML. The question is small below a `title`, and left out if it is the same."""
    language = LANGUAGES.get(run.query.language, run.query.language)
    options = (say_name("system", run.query.system), say_name("effort", run.query.effort), language)
    size = " small" if title else " long" if len(run.query.question) > LONG_QUESTION else ""
    asked = say("header.asked", when=say_time(run.created_at))
    return (
        f'<div class="r-eyebrow">{pill_html(run.status)}'
        + "".join(f"<span>{escape(option)}</span>" for option in options)
        + f"<span>{escape(asked)}</span></div>"
        + (f'<h1 class="r-question{size}">{escape(run.query.question)}</h1>' if run.query.question != title else "")
    )


def show(run: Run, here: str, title: str = "") -> None:
    """Draw the head with links to the run's two pages; `here` is the present one, `title` the page's own title."""
    st.html(header_html(run, title))
    with st.container(horizontal=True, gap="medium", key="run_tabs"):
        for page, label in PAGES:
            if page == here:
                st.html(f'<span class="r-tab" aria-current="page">{escape(say(label))}</span>', width="content")
            else:
                st.page_link(page, label=say(label), query_params={"run": run.id})
