"""How an error is shown: what happened, why, and what to do."""

import streamlit as st

from ui.api_client import ApiProblem
from ui.components.markup import text
from ui.language import DEFAULT, current, named, say, table

UNKNOWN = 401
KNOWN = (400, 401, 402, 403, 404, 406, 409, 413, 422, 429, 503)


def title_of(problem: ApiProblem) -> str:
    """What happened: in the page's words where it has some, else in the API's, which speaks English."""
    if problem.kind:
        return say(f"problem.{problem.kind}")
    translated = table(current()).get(f"problem.title{problem.status}")
    return problem.title if current() == DEFAULT or not translated else translated


def advice_of(problem: ApiProblem) -> str:
    """What to do about it."""
    if problem.kind:
        return say(f"advice.{problem.kind}")
    return say(f"advice.status{problem.status}" if problem.status in KNOWN else "advice.server")


def problem_html(problem: ApiProblem) -> str:
    """The problem's title, its detail and the advice."""
    detail = f"<span>{text(problem.detail)}</span> " if problem.detail else ""
    what_to_do = f'<span class="todo">{text(advice_of(problem))}</span>'
    if problem.status == UNKNOWN:  # such as in another tab, after signing out in this browser
        what_to_do += f' <a href="/sign-in">{text(named("sign_in", "enter"))}</a>'
    return f'<div class="r-note bad" role="alert"><strong>{text(title_of(problem))}</strong>{detail}{what_to_do}</div>'


def show(problem: ApiProblem) -> None:
    """Put the problem on the page."""
    st.html(problem_html(problem))
