"""The steps before a run: an estimate of its cost, and questions back about what the question leaves open."""

from collections.abc import Callable, Sequence
from datetime import timedelta

import streamlit as st

from rubrica_client import ApiError, Client, asking
from rubrica_client.models import Clarification, ClarifyingQuestion, Estimate, Interval, NewRun
from ui.components import problem
from ui.components.markup import escape
from ui.language import say, say_count
from ui.number_format import format_count, format_elapsed, format_money
from ui.session import ask_once, is_own_machine

FEW = 5
"""With fewer runs like it, an estimate rests on general experience for the most part."""


def show_estimate(client: Client, new: NewRun) -> None:
    """Draw one line with time, money and tokens, each as an interval. Without an estimate, draw nothing: asking works."""
    if not new.question.strip():
        return
    try:
        made = ask_once("estimate", new.model_dump_json(), lambda: client.send(asking.estimate(new)))
    except ApiError:
        return
    if made.refusal:
        st.session_state.pop("estimate", None)  # it is asked anew each time: somebody is about to put it right
    st.html(estimate_html(made))


def estimate_html(made: Estimate) -> str:
    """Return the estimate in words, and what it is based on, as HTML; only that the model refuses, if it does."""
    parts = [_format_interval(made.seconds, lambda seconds: format_elapsed(timedelta(seconds=seconds)))]
    if made.cost_microusd:
        parts.append(_format_interval(made.cost_microusd, format_money))
    parts.append(say("ask.tokens_likely", tokens=_format_interval(made.tokens, format_count)))
    behind = _describe_basis(made.runs)
    over = "" if made.within_budget else f" <strong>{escape(say('ask.over_budget'))}</strong>"
    if made.refusal:
        why = say("ask.model_refuses_own", reason=made.refusal) if is_own_machine() else say("ask.model_refuses")
        return f'<div class="r-note" role="alert">{escape(why)}</div>'
    return f'<p class="r-quiet" role="status">{escape(" · ".join(parts))} · {escape(behind)}{over}</p>'


def _describe_basis(runs: int) -> str:
    """Return what the estimate rests on: how many runs, or general experience."""
    if not runs:
        return say("ask.from_experience")
    return say("ask.from_runs" if runs >= FEW else "ask.from_few_runs", runs=say_count("run", runs))


def _format_interval(interval: Interval, as_text: Callable[[int], str]) -> str:
    low, high = as_text(interval.low), as_text(interval.high)
    return low if low == high else f"{low} – {high}"


def ask_back(client: Client, new: NewRun) -> Sequence[ClarifyingQuestion]:
    """Return what the question leaves open; nothing if no answer would change the plan, or if the API fails."""
    try:
        with st.spinner(say("ask.asking_back")):
            return client.send(asking.clarify(new)).questions
    except ApiError as error:
        problem.show(error)
        return ()


def collect_answers(questions: Sequence[ClarifyingQuestion]) -> tuple[Clarification, ...]:
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
