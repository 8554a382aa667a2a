"""An error on the page: what happened, why, and what to do."""

import streamlit as st

from rubrica_client import ApiError
from rubrica_client.errors import BrokenOff, TimedOut, Unreachable, Unreadable
from ui.components.markup import escape
from ui.language import DEFAULT, get_language, load_table, say, say_name

NOT_SIGNED_IN = 401
# The first class that fits counts, so subclasses come first.
WITHOUT_ANSWER = {BrokenOff: "stream", TimedOut: "timeout", Unreachable: "unreachable", Unreadable: "unreadable"}
STATUSES_WITH_ADVICE = (400, 401, 402, 403, 404, 406, 409, 413, 422, 429, 503)


def kind_of(problem: ApiError) -> str:
    """Return why no readable answer came; empty if one came, because it says itself what is wrong."""
    return next((kind for error, kind in WITHOUT_ANSWER.items() if isinstance(problem, error)), "")


def title_of(problem: ApiError) -> str:
    """Return what happened in the page's own words if it has some, else in the API's, which are English."""
    if kind := kind_of(problem):
        return say(f"problem.{kind}")
    translated = load_table(get_language()).get(f"problem.title{problem.status}")
    return problem.title if get_language() == DEFAULT or not translated else translated


def advice_of(problem: ApiError) -> str:
    """Return what the visitor can do about it."""
    if kind := kind_of(problem):
        return say(f"advice.{kind}")
    return say(f"advice.status{problem.status}" if problem.status in STATUSES_WITH_ADVICE else "advice.server")


def problem_html(problem: ApiError) -> str:
    """Return the problem's title, its detail and the advice as HTML."""
    detail = f"<span>{escape(problem.detail)}</span> " if problem.detail else ""
    what_to_do = f'<span class="todo">{escape(advice_of(problem))}</span>'
    if problem.status == NOT_SIGNED_IN:  # for instance in another tab, after signing out in this browser
        what_to_do += f' <a href="/sign-in">{escape(say_name("sign_in", "enter"))}</a>'
    return f'<div class="r-note bad" role="alert"><strong>{escape(title_of(problem))}</strong>{detail}{what_to_do}</div>'


def show(problem: ApiError) -> None:
    """Draw the problem."""
    st.html(problem_html(problem))
