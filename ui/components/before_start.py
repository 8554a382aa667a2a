"""The steps before a run: an estimate of its cost, and questions back about what the question leaves open."""

from collections.abc import Callable, Sequence
from datetime import timedelta

import streamlit as st

from rubrica_client import ApiError, Client, asking
from rubrica_client.models import Clarification, ClarifyingQuestion, Estimate, Interval, NewRun
from ui.components import problem
from ui.components.markup import text
from ui.figures import clock, compact, money
from ui.language import count, say
from ui.session import once


def estimate(client: Client, new: NewRun) -> None:
    """Draw one line with time, money and tokens, each as an interval. Without an estimate, draw nothing: asking works."""
    if not new.question.strip():
        return
    try:
        made = once("estimate", new.model_dump_json(), lambda: client.send(asking.estimate(new)))
    except ApiError:
        return
    st.html(estimate_html(made))


def estimate_html(made: Estimate) -> str:
    """Return the estimate in words, and what it is based on, as HTML."""
    parts = [_between(made.seconds, lambda seconds: clock(timedelta(seconds=seconds)))]
    if made.cost_microusd:
        parts.append(_between(made.cost_microusd, money))
    parts.append(say("ask.tokens_likely", tokens=_between(made.tokens, compact)))
    behind = say("ask.from_runs", runs=count("run", made.runs)) if made.runs else say("ask.from_experience")
    over = "" if made.within_budget else f" <strong>{text(say('ask.over_budget'))}</strong>"
    return f'<p class="r-quiet" role="status">{text(" · ".join(parts))} · {text(behind)}{over}</p>'


def _between(interval: Interval, as_text: Callable[[int], str]) -> str:
    low, high = as_text(interval.low), as_text(interval.high)
    return low if low == high else f"{low} – {high}"


def questions_back(client: Client, new: NewRun) -> Sequence[ClarifyingQuestion]:
    """Return what the question leaves open; nothing if no answer would change the plan, or if the API fails."""
    try:
        with st.spinner(say("ask.asking_back")):
            return client.send(asking.clarify(new)).questions
    except ApiError as error:
        problem.show(error)
        return ()


def answers(questions: Sequence[ClarifyingQuestion]) -> tuple[Clarification, ...]:
    """Draw the questions as a form, and return those that were answered."""
    clarifications = []
    for n, question in enumerate(questions):
        answer = st.selectbox(
            question.question,
            question.options,
            index=None,
            key=f"clarified_{n}",
            help=question.why or None,
            accept_new_options=True,
            placeholder=say("ask.own_answer"),
        )
        if answer and answer.strip():
            clarifications.append(Clarification(question=question.question, answer=answer.strip()))
    return tuple(clarifications)
