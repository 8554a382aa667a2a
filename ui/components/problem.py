"""An error on the page: what happened, why, and what to do."""

import streamlit as st

from rubrica_client import ApiError
from rubrica_client.errors import BrokenOff, TimedOut, Unreachable, Unreadable
from ui.components.markup import text
from ui.language import DEFAULT, current, named, say, table

UNKNOWN = 401
# The first class that fits counts, so subclasses come first.
WITHOUT_ANSWER = {BrokenOff: "stream", TimedOut: "timeout", Unreachable: "unreachable", Unreadable: "unreadable"}
KNOWN = (400, 401, 402, 403, 404, 406, 409, 413, 422, 429, 503)


def kind_of(problem: ApiError) -> str:
    """Return why no readable answer came; empty if one came, because it says itself what is wrong."""
    return next((kind for error, kind in WITHOUT_ANSWER.items() if isinstance(problem, error)), "")


def title_of(problem: ApiError) -> str:
    """Return what happened in the page's own words if it has some, else in the API's, which are English."""
    if kind := kind_of(problem):
        return say(f"problem.{kind}")
    translated = table(current()).get(f"problem.title{problem.status}")
    return problem.title if current() == DEFAULT or not translated else translated


def advice_of(problem: ApiError) -> str:
    """Return what the visitor can do about it."""
    if kind := kind_of(problem):
        return say(f"advice.{kind}")
    return say(f"advice.status{problem.status}" if problem.status in KNOWN else "advice.server")


def problem_html(problem: ApiError) -> str:
    """Return the problem's title, its detail and the advice as HTML."""
    detail = f"<span>{text(problem.detail)}</span> " if problem.detail else ""
    what_to_do = f'<span class="todo">{text(advice_of(problem))}</span>'
    if problem.status == UNKNOWN:  # for instance in another tab, after signing out in this browser
        what_to_do += f' <a href="/sign-in">{text(named("sign_in", "enter"))}</a>'
    return f'<div class="r-note bad" role="alert"><strong>{text(title_of(problem))}</strong>{detail}{what_to_do}</div>'


def show(problem: ApiError) -> None:
    """Draw the problem."""
    st.html(problem_html(problem))
