"""An error on the page: what happened, why, and what to do."""

import streamlit as st

from rubrica_client import ApiError
from rubrica_client.errors import BrokenOff, TimedOut, Unreachable, Unreadable
from rubrica_client.models import Run
from ui.components.markup import escape, make_sentence
from ui.language import get_language, load_table, say, say_name
from ui.session import is_own_machine

NOT_SIGNED_IN = 401
NOT_ALLOWED = 403
MENDED_BY_OWNERS = ("unreachable", "unreadable", "status401", "server")
# The first class that fits counts, so subclasses come first.
WITHOUT_ANSWER = {BrokenOff: "stream", TimedOut: "timeout", Unreachable: "unreachable", Unreadable: "unreadable"}
STATUSES_WITH_ADVICE = (400, 401, 402, 404, 406, 409, 412, 413, 422, 429, 503)


def kind_of(problem: ApiError) -> str:
    """Return why no readable answer came; empty if one came, because it says itself what is wrong."""
    return next((kind for error, kind in WITHOUT_ANSWER.items() if isinstance(problem, error)), "")


def title_of(problem: ApiError) -> str:
    """Return what happened in the page's own words if it has some, else in the API's."""
    if kind := kind_of(problem):
        return say(f"problem.{kind}")
    translated = load_table(get_language()).get(f"problem.title{problem.status}")
    return str(translated or problem.title)


def advice_of(problem: ApiError) -> str:
    """Return what the visitor can do about it; empty for what is not allowed, since the detail says why.

    Only who runs the installation is told of commands, settings and logs.
    """
    if problem.status == NOT_ALLOWED:
        return ""
    answered = f"status{problem.status}" if problem.status in STATUSES_WITH_ADVICE else "server"
    advice = kind_of(problem) or answered
    own = "_own" if advice in MENDED_BY_OWNERS and is_own_machine() else ""
    return say(f"advice.{advice}{own}")


def problem_html(problem: ApiError) -> str:
    """Return the problem's title, its detail and the advice as HTML."""
    words = problem.detail if kind_of(problem) else make_sentence(problem.detail)  # without an answer it is an address
    detail = f"<span>{escape(words)}</span> " if words else ""
    advice = advice_of(problem)
    what_to_do = f'<span class="todo">{escape(advice)}</span>' if advice else ""
    if problem.status == NOT_SIGNED_IN and not is_own_machine():  # for instance in another tab, after signing out in this browser
        what_to_do += f' <a href="/sign-in">{escape(say_name("sign_in", "enter"))}</a>'
    return f'<div class="r-note bad" role="alert"><strong>{escape(title_of(problem))}</strong>{detail}{what_to_do}</div>'


def show(problem: ApiError) -> None:
    """Draw the problem."""
    st.html(problem_html(problem))


def explain_stop(run: Run) -> str:
    """Return why the run stopped. Only who runs the installation is told which setting is wrong."""
    if run.reason == "model_refused" and not is_own_machine():
        return say("advice.model_refused")
    return run.detail[:1].upper() + run.detail[1:]


def show_unexpected() -> None:
    """Draw that something failed here which nobody foresaw."""
    _show_note("bad", say("problem.unexpected"), say("advice.unexpected_own" if is_own_machine() else "advice.unexpected"))


def show_stalled() -> None:
    """Draw that nobody carries out the run at present."""
    _show_note("warn", say("problem.stalled"), say("advice.stalled_own" if is_own_machine() else "advice.stalled"))


def _show_note(kind: str, title: str, todo: str) -> None:
    html = f'<strong>{escape(title)}</strong><span class="todo">{escape(todo)}</span>'
    st.html(f'<div class="r-note {kind}" role="alert">{html}</div>')
