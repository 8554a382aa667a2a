"""What the operator does about a cycle of training: agree to its step, pause it, let it go on, or end it, each with a reason."""

import streamlit as st

from rubrica_client import cycles
from rubrica_client.models import ActReason, CycleStop, CycleView, StepApproval
from ui.components import cycle_log
from ui.components.model_roles import ask_reason
from ui.language import say


def show(cycle: CycleView) -> None:
    """Draw the buttons that fit a cycle's present state."""
    with st.container(horizontal=True, gap="small"):
        if cycle.asks:
            _offer_approval(cycle)
        if cycle.wish == "pause" or cycle.state == "paused":
            _offer_going_on(cycle)
        elif cycle.wish == "go":
            _offer_pause(cycle)
        if cycle.wish != "stop":
            _offer_end(cycle)


def _offer_approval(cycle: CycleView) -> None:
    ask_reason(
        say("cycles.approve"),
        say("cycles.approve_help", step=cycle_log.name_step(cycle.step)),
        f"approve_{cycle.id}",
        ":material/task_alt:",
        lambda why: cycles.approve(cycle.id, StepApproval(step=cycle.step, reason=why)),
        say("cycles.approved"),
    )


def _offer_going_on(cycle: CycleView) -> None:
    ask_reason(
        say("cycles.go"),
        say("cycles.go_help"),
        f"go_{cycle.id}",
        ":material/play_arrow:",
        lambda why: cycles.go(cycle.id, ActReason(reason=why)),
        say("cycles.gone_on"),
    )


def _offer_pause(cycle: CycleView) -> None:
    ask_reason(
        say("cycles.pause"),
        say("cycles.pause_help"),
        f"pause_{cycle.id}",
        ":material/pause:",
        lambda why: cycles.pause(cycle.id, ActReason(reason=why)),
        say("cycles.paused"),
    )


def _offer_end(cycle: CycleView) -> None:
    if cycle.state == "running" and cycle.wish != "stop_after":
        ask_reason(
            say("cycles.stop_after"),
            say("cycles.stop_after_help"),
            f"stop_after_{cycle.id}",
            ":material/stop_circle:",
            lambda why: cycles.stop(cycle.id, CycleStop(reason=why, after_step=True)),
            say("cycles.stopped"),
        )
    ask_reason(
        say("cycles.stop"),
        say("cycles.stop_help"),
        f"stop_{cycle.id}",
        ":material/close:",
        lambda why: cycles.stop(cycle.id, CycleStop(reason=why)),
        say("cycles.stopped"),
    )
