"""How an error is shown: what happened, why, and what to do."""

import streamlit as st

from ui.api_client import ApiProblem
from ui.components.markup import text


def problem_html(problem: ApiProblem) -> str:
    """The problem's title, its detail and the advice."""
    detail = f"<span>{text(problem.detail)}</span> " if problem.detail else ""
    what_to_do = f'<span class="todo">{text(problem.advice)}</span>'
    return f'<div class="r-note bad" role="alert"><strong>{text(problem.title)}</strong>{detail}{what_to_do}</div>'


def show(problem: ApiProblem) -> None:
    """Put the problem on the page."""
    st.html(problem_html(problem))
