"""Steering a run: pause, resume, finish, cancel, a new cap, a note. Each choice says what it does to the work so far."""

from collections.abc import Callable

import streamlit as st

from ui.api_client import ApiClient, ApiProblem
from ui.components import problem
from ui.models import PARKED, Budget, Run

PAUSE_HELP = "Stops after the calls in flight. Everything is kept; resume at any time."
FINISH_HELP = "Writes the report now. Costs nothing more."
DONE = ":material/task_alt:"
NOTE_EXAMPLE = "Look at the Senate debates too; leave out the colonies."


def act(action: Callable[[], None], done: str) -> None:
    """Send one command and say how it went."""
    try:
        action()
    except ApiProblem as error:
        problem.show(error)
    else:
        st.toast(done)


def show(client: ApiClient, run: Run) -> None:
    """The buttons that make sense in the run's present state."""
    if run.finished:
        return
    with st.container(horizontal=True, gap="small"):
        if run.status == "budget_reached":
            _continue_with_more(client, run)
        elif run.status == "paused":
            if st.button("Resume", key="resume", type="primary", icon=":material/play_arrow:"):
                act(lambda: client.resume(run.id), "Going on where it stopped")
        elif st.button("Pause", key="pause", icon=":material/pause:", help=PAUSE_HELP):
            act(lambda: client.pause(run.id), "Pausing after the calls in flight")
        if run.status in PARKED and st.button("Finish with what there is", key="finish", icon=DONE, help=FINISH_HELP):
            act(lambda: client.resume(run.id, finish=True), "Writing the report from what there is")
        with st.popover("Cancel", icon=":material/close:"):
            st.markdown("This ends the run for good, without a report. To keep the work, pause instead.")
            if st.button("Yes, cancel this run", key="cancel", type="primary"):
                act(lambda: client.cancel(run.id), "Cancelling")


def _continue_with_more(client: ApiClient, run: Run) -> None:
    with st.popover("Continue with more", icon=":material/add:", type="primary"):
        budget = budget_inputs("more", _doubled(run.budget))
        if st.button("Raise the cap and go on", key="raise", type="primary"):
            act(lambda: _raise_and_resume(client, run, budget), "Going on with the new cap")


def _raise_and_resume(client: ApiClient, run: Run, budget: Budget) -> None:
    client.set_budget(run.id, budget)
    client.resume(run.id)


def _doubled(budget: Budget) -> Budget:
    return Budget(**{name: value and value * 2 for name, value in budget.model_dump().items()})


def budget_inputs(key: str, start: Budget) -> Budget:
    """Three optional caps. Empty means no cap."""
    dollars = st.number_input("Cost, US$", 0.01, None, _dollars(start), step=0.5, key=f"{key}_cost", placeholder="no cap")
    tokens = st.number_input("Tokens", 1_000, None, start.max_tokens, step=50_000, key=f"{key}_tokens", placeholder="no cap")
    minutes = st.number_input("Minutes", 1, None, _minutes(start), step=5, key=f"{key}_minutes", placeholder="no cap")
    return Budget(
        max_cost_microusd=round(dollars * 1_000_000) if dollars else None,
        max_tokens=int(tokens) if tokens else None,
        max_seconds=int(minutes) * 60 if minutes else None,
    )


def _dollars(budget: Budget) -> float | None:
    return max(budget.max_cost_microusd / 1_000_000, 0.01) if budget.max_cost_microusd else None


def _minutes(budget: Budget) -> int | None:
    return max(-(-budget.max_seconds // 60), 1) if budget.max_seconds else None


def note_form(client: ApiClient, run: Run) -> None:
    """A note for the agents."""
    with st.form("note", clear_on_submit=True, border=False):
        text = st.text_area("Tell the agents something", key="note_text", height=90, placeholder=NOTE_EXAMPLE)
        sent = st.form_submit_button("Add the note", icon=":material/edit_note:")
    if sent and text and text.strip():
        act(lambda: client.add_note(run.id, text.strip()), "Noted. Stages that start from now on will read it")
