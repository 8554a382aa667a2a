"""The choice between two reports: which is better, how much and why. After it the reader may learn which was which."""

from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from rubrica_client import ApiError, preferences
from rubrica_client.models import (
    ChoiceReason,
    ChoiceVerdict,
    ChoiceView,
    ComparisonView,
    Dimension,
    NewChoice,
    RevealedReport,
    ShownSide,
)
from ui.components import problem, safe_fragments
from ui.components.markup import escape
from ui.language import say, say_name, say_time
from ui.number_format import format_count, format_money
from ui.session import get_api

SCRIPT = Path(__file__).parent.parent / "assets" / "hidden.js"
VERDICTS = ("left", "right", "tie", "both_bad")
DIMENSIONS = ("usefulness", "coherence", "completeness", "alignment")
NEITHER = "neither"
STRENGTHS = (1, 2, 3)


@safe_fragments.make_fragment
def show(comparison: ComparisonView) -> None:
    """Draw the form, or the choice once it is made."""
    with st.container(border=True, key="choice"):
        if comparison.choice is None or st.session_state.get("choosing_again") == comparison.id:
            choice = ask_choice(comparison.id, comparison.choice, say("compare.choose"))
            if choice:
                _send_choice(comparison.id, choice)
        else:
            _show_choice(comparison, comparison.choice)


@cache
def _load_watcher() -> ComponentRenderer:
    """Return the component that counts the seconds in which the page was hidden: they are not time spent on choosing."""
    return st.components.v2.component("rubrica_hidden", js=SCRIPT.read_text("utf-8"), isolate_styles=False)


def _ignore_change() -> None:
    """Do nothing: a component keeps a value only if a callback listens to its change."""


def ask_choice(pair: str, before: ChoiceView | None, send: str) -> NewChoice | None:
    """Draw the questions: which is better, how much, and in what. Return the choice when it has just been sent."""
    hidden = _load_watcher()(key=f"hidden_{pair}", default={"seconds": 0.0}, on_seconds_change=_ignore_change).seconds
    verdict = st.segmented_control(
        say("compare.verdict"),
        VERDICTS,
        default=before.verdict if before else None,
        format_func=lambda value: say_name("verdict", value),
        key=f"verdict_{pair}",
    )
    prefers = verdict in ("left", "right")
    strength = _ask_strength(pair, before.strength if before else None) if prefers else None
    reasons = _ask_reasons(pair, before) if verdict else []
    comment = st.text_area(say("compare.comment"), before.comment if before else "", 68, 4_000, key=f"comment_{pair}")
    ready = verdict is not None and (strength is not None or not prefers)
    why = None if ready else say("compare.choose_how_much" if verdict else "compare.choose_first")
    if not st.button(send, key="choose", type="primary", disabled=not ready, help=why) or verdict is None:
        return None
    shown = float(hidden or 0.0)
    return NewChoice(
        verdict=ChoiceVerdict(verdict), strength=strength, reasons=reasons, comment=comment or "", hidden_seconds=shown
    )


def _ask_strength(pair: str, before: int | None) -> int | None:
    return st.segmented_control(
        say("compare.strength"),
        STRENGTHS,
        default=before,
        format_func=lambda value: say_name("strength", f"s{value}"),
        key=f"strength_{pair}",
    )


def _ask_reasons(pair: str, before: ChoiceView | None) -> list[ChoiceReason]:
    """Draw the dimensions. Return the better side for each one that was answered; a side of None means neither."""
    st.caption(say("compare.reasons"))
    earlier = {str(reason.dimension): reason.side or NEITHER for reason in before.reasons} if before else {}
    answers = []
    for dimension, column in zip(DIMENSIONS, st.columns(4), strict=True):
        side = column.segmented_control(
            say_name("dimension", dimension),
            ("left", NEITHER, "right"),
            default=earlier.get(dimension),
            format_func=lambda value: say_name("short_side", value),
            key=f"{dimension}_{pair}",
            help=say(f"dimension.{dimension}_help"),
        )
        if side:
            answers.append(ChoiceReason(dimension=Dimension(dimension), side=None if side == NEITHER else ShownSide(side)))
    return answers


def _send_choice(comparison_id: str, choice: NewChoice) -> None:
    try:
        get_api().send(preferences.choose(comparison_id, choice))
    except ApiError as error:
        problem.show(error)
        return
    st.session_state.pop("choosing_again", None)
    st.rerun()


def _show_choice(comparison: ComparisonView, choice: ChoiceView) -> None:
    strength = f" · {say_name('strength', f's{choice.strength}')}" if choice.strength else ""
    st.html(
        f'<h2 class="r-label">{escape(say("compare.chosen"))}</h2><b>{escape(say_name("verdict", choice.verdict) + strength)}</b>'
    )
    if comparison.revealed:
        _reveal(comparison.id)
        st.page_link("views/read.py", label=say("watch.read"), icon=":material/article:", query_params={"run": comparison.run_id})
        return
    with st.container(horizontal=True):
        if st.button(say("compare.reveal"), key="reveal", type="primary", help=say("compare.reveal_help")):
            _reveal(comparison.id)
            st.rerun()
        if choice.changeable_until and st.button(say("compare.change"), key="change"):
            st.session_state["choosing_again"] = comparison.id
            st.rerun(scope="fragment")
    if choice.changeable_until:
        st.caption(say("compare.changeable", when=say_time(choice.changeable_until, "short")))


def _reveal(comparison_id: str) -> None:
    try:
        reveal = get_api().send(preferences.reveal(comparison_id))
    except ApiError as error:
        problem.show(error)
        return
    for side, column in zip((reveal.left, reveal.right), st.columns(2), strict=True):
        column.html(_unveiled_html("left" if side is reveal.left else "right", side))


def _unveiled_html(side: str, what: RevealedReport) -> str:
    origin = say("compare.delivered") if what.delivered else say("compare.second")
    spent = say("compare.spent", tokens=format_count(what.tokens), cost=format_money(what.cost_microusd))
    return (
        f'<h3 class="r-label">{escape(say_name("side", side))}</h3><p>{escape(origin)}</p>'
        f'<p class="r-quiet">{escape(what.way)}<br>{escape(spent)}</p>'
    )
