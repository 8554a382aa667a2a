"""The frame of every page: the logo, the latest runs, the account and the language."""

from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from rubrica_client import ApiError
from rubrica_client.models import Run
from ui import language
from ui.components import style
from ui.components.markup import escape, escape_for_markdown
from ui.components.run_list import page_of, shorten_question
from ui.language import say, say_name
from ui.session import get_me, list_latest_runs, read_query, read_session_token

SCRIPT = Path(__file__).parent.parent / "assets" / "page.js"
LONGEST_TITLE = 46
USUAL_SYSTEM = "minddr"
PLACES = ("run", "id", "before")  # the parameters of the address that say what is shown; another value is shown from its top


def show() -> None:
    """Draw the sidebar, and set the language in the browser."""
    st.logo(str(style.ASSETS / "logo.svg"), size="large")
    with st.sidebar:
        _show_latest()
        with st.container(key="foot"):
            _show_account()
            _show_languages()
    _tell_browser()


def show_to_stranger() -> None:
    """Draw the frame for a visitor who is not signed in: the logo and the language."""
    st.logo(str(style.ASSETS / "logo.svg"), size="large")
    with st.container(key="foot_alone"):
        _show_languages()
    _tell_browser()


def _tell_browser() -> None:
    place = " ".join(read_query(name) or "" for name in PLACES)
    _load_component()(key="page", data={"language": language.get_language(), "cookie": language.LANGUAGE_COOKIE, "place": place})


def _show_account() -> None:
    """Draw the visitor's name and the button to sign out. A local stack has one user, who cannot sign out."""
    if not read_session_token():
        return
    try:
        who = get_me()
    except ApiError:
        return
    if who:
        leave = f'<form method="post" action="/leave"><button class="r-leave">{escape(say("shell.leave"))}</button></form>'
        organisation = f"<small>{escape(who.organisation.name)}</small>"
        st.html(f'<div class="r-account"><span>{escape(who.name)}<br>{organisation}</span>{leave}</div>')


@cache
def _load_component() -> ComponentRenderer:
    return st.components.v2.component("rubrica_page", js=SCRIPT.read_text("utf-8"), isolate_styles=False)


def _show_latest() -> None:
    """Draw the latest runs. If the API fails, draw nothing: the page itself shows the error once."""
    try:
        runs = list_latest_runs()
    except ApiError:
        return
    if not runs:
        return
    with st.container(key="latest", gap=None):
        st.html(f'<h2 class="r-label">{escape(say("shell.latest"))}</h2>')
        for run in runs:
            st.page_link(
                page_of(run),
                label=escape_for_markdown(shorten_question(_title_of(run), LONGEST_TITLE)),
                query_params={"run": run.id},
            )


def _title_of(run: Run) -> str:
    """Return the question. For another system than the usual one, that system's name precedes it."""
    if run.query.system == USUAL_SYSTEM:
        return run.query.question
    return say("shell.by_system", system=say_name("system", run.query.system), question=run.query.question)


def _show_languages() -> None:
    chosen = st.segmented_control(
        say("shell.language"),
        list(language.LANGUAGES),
        default=language.get_language(),
        required=True,
        format_func=language.LANGUAGES.__getitem__,
        key="language_choice",
        on_change=_switch_language,
        label_visibility="collapsed",
    )
    assert chosen


def _switch_language() -> None:
    st.session_state["language"] = st.session_state["language_choice"]
