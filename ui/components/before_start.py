"""What is told and asked before a run starts: what it will probably take, and what the question leaves open."""

from collections.abc import Callable, Sequence
from datetime import timedelta

import streamlit as st

from rubrica_client import ApiError, Client, asking
from rubrica_client.models import Clarification, ClarifyingQuestion, Estimate, Interval, NewRun
from ui.components import problem
from ui.components.markup import text
from ui.figures import clock, compact, money
from ui.language import count, say


def estimate(client: Client, new: NewRun) -> None:
    """One line: time, money, tokens, each as an interval. An estimate that cannot be had is no reason to disturb."""
    if not new.question.strip():
        return
    asked = new.model_dump_json()
    held: tuple[str, Estimate] | None = st.session_state.get("estimate")
    if held is None or held[0] != asked:
        try:
            held = st.session_state["estimate"] = (asked, client.send(asking.estimate(new)))
        except ApiError:
            return
    st.html(estimate_html(held[1]))


def estimate_html(made: Estimate) -> str:
    """The estimate in words, with what it is made of."""
    parts = [_between(made.seconds, lambda seconds: clock(timedelta(seconds=seconds)))]
    if made.cost_microusd:
        parts.append(_between(made.cost_microusd, money))
    parts.append(say("ask.tokens_likely", tokens=_between(made.tokens, compact)))
    behind = say("ask.from_runs", runs=count("run", made.runs)) if made.runs else say("ask.from_experience")
    over = "" if made.within_budget else f" <strong>{text(say('ask.over_budget'))}</strong>"
    return f'<p class="r-quiet" role="status">{text(" · ".join(parts))} · {text(behind)}{over}</p>'


def _between(interval: Interval, shown: Callable[[int], str]) -> str:
    low, high = shown(interval.low), shown(interval.high)
    return low if low == high else f"{low} – {high}"


def questions_back(client: Client, new: NewRun) -> Sequence[ClarifyingQuestion]:
    """What the question leaves open; nothing where the answer would change nothing, or nobody can be asked now."""
    try:
        with st.spinner(say("ask.asking_back")):
            return client.send(asking.clarify(new)).questions
    except ApiError as error:
        problem.show(error)
        return ()


def answers(questions: Sequence[ClarifyingQuestion]) -> tuple[Clarification, ...]:
    """The questions as a form; those that were answered, as a run takes them."""
    given = []
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
            given.append(Clarification(question=question.question, answer=answer.strip()))
    return tuple(given)
