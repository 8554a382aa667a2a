"""Controls of a run: pause, resume, finish, cancel, a new cap, a note, another plan. Each says what happens to the work."""

from collections.abc import Callable

import streamlit as st

from rubrica_client import ApiError, Client, runs
from rubrica_client.models import Budget, ResearchPlan, Run
from ui.components import plan_editor, problem
from ui.facts import is_finished
from ui.language import say
from ui.session import may

DONE_ICON = ":material/task_alt:"
UNFINISHED = ("paused", "budget_reached")


def send_command(action: Callable[[], object], done: str) -> bool:
    """Send one command, show the result, and return whether it succeeded."""
    try:
        action()
    except ApiError as error:
        problem.show(error)
        return False
    st.toast(done)
    return True


def show(client: Client, run: Run) -> None:
    """Draw the buttons that fit the run's present state, for those who may steer it."""
    if is_finished(run) or not may("runs:write"):
        return
    with st.container(horizontal=True, gap="small"):
        if run.status == "budget_reached":
            _show_continuation(client, run)
        elif run.status == "paused":
            if st.button(say("steer.resume"), key="resume", type="primary", icon=":material/play_arrow:"):
                send_command(lambda: client.send(runs.resume(run.id)), say("steer.resumed"))
            if run.reason == "model_refused" and st.button(
                say("steer.present_models"),
                key="present_models",
                icon=":material/swap_horiz:",
                help=say("steer.present_models_help"),
            ):
                send_command(lambda: client.send(runs.resume(run.id, present_models=True)), say("steer.resumed"))
        elif run.status != "awaiting_approval" and st.button(
            say("steer.pause"), key="pause", icon=":material/pause:", help=say("steer.pause_help")
        ):
            send_command(lambda: client.send(runs.pause(run.id)), say("steer.pausing"))
        if (
            run.reason
            and st.button(say("steer.without_model"), key="without_model", icon=DONE_ICON, help=say("steer.without_model_help"))
        ) or (
            run.status in UNFINISHED
            and st.button(say("steer.finish"), key="finish", icon=DONE_ICON, help=say("steer.finish_help"))
        ):
            send_command(lambda: client.send(runs.resume(run.id, finish=True)), say("steer.finishing"))
        with st.popover(say("steer.cancel"), icon=":material/close:"):
            st.markdown(say("steer.cancel_help"))
            if st.button(say("steer.cancel_yes"), key="cancel", type="primary"):
                send_command(lambda: client.send(runs.cancel(run.id)), say("steer.cancelling"))


def show_steering(client: Client, run: Run, plan: ResearchPlan | None) -> None:
    """Draw the controls that may be used while the agents work: a note, the plan and the cap."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="steer"):
        note = st.chat_input(say("steer.note_hint"), key="note_text", max_chars=4_000)
        if plan and st.button(say("steer.plan"), key="edit_plan", icon=":material/account_tree:"):
            st.dialog(say("steer.plan_title"), width="medium")(_revise_plan)(client, run, plan)
        with st.popover(say("steer.budget"), icon=":material/speed:"):
            budget = ask_budget(_name_form("cap", run), run.budget)
            if st.button(say("steer.budget_set"), key="set_budget", type="primary"):
                send_command(lambda: client.send(runs.set_budget(run.id, budget)), say("steer.budget_done"))
    if note and note.strip():
        send_command(lambda: client.send(runs.add_note(run.id, note.strip())), say("steer.noted"))


def _revise_plan(client: Client, run: Run, plan: ResearchPlan) -> None:
    st.caption(say("steer.plan_help"))
    revised = plan_editor.show(f"plan_{run.id}", plan)
    empty = not revised.subtasks
    why = say("plan.empty") if empty else None
    save = st.button(say("steer.plan_save"), key=f"plan_{run.id}_save", type="primary", disabled=empty, help=why)
    if save and send_command(lambda: client.send(runs.revise_plan(run.id, revised, plan.revision)), say("steer.plan_done")):
        plan_editor.forget(f"plan_{run.id}")
        st.rerun()


def _show_continuation(client: Client, run: Run) -> None:
    with st.popover(say("steer.more"), icon=":material/add:", type="primary"):
        budget = ask_budget(_name_form("more", run), _double_budget(run.budget))
        if st.button(say("steer.more_yes"), key="raise", type="primary"):
            send_command(lambda: _raise_and_resume(client, run, budget), say("steer.more_done"))


def _name_form(form: str, run: Run) -> str:
    """Return a key of its own for each run and each state of its caps, because under the same key a form keeps what it showed."""
    return "_".join((form, run.id, *map(str, run.budget.model_dump().values())))


def _raise_and_resume(client: Client, run: Run, budget: Budget) -> None:
    client.send(runs.set_budget(run.id, budget))
    client.send(runs.resume(run.id))


def _double_budget(budget: Budget) -> Budget:
    return Budget(**{name: value and value * 2 for name, value in budget.model_dump().items()})


def ask_budget(key: str, start: Budget) -> Budget:
    """Draw three optional caps and return them. Empty means no cap."""
    none = say("budget.none")
    dollars = st.number_input(say("budget.cost"), 0.01, None, _dollars_of(start), step=0.5, key=f"{key}_cost", placeholder=none)
    tokens = st.number_input(say("budget.tokens"), 1, None, start.max_tokens, 50_000, key=f"{key}_tokens", placeholder=none)
    minutes = st.number_input(say("budget.minutes"), 1, None, _minutes_of(start), 5, key=f"{key}_minutes", placeholder=none)
    return Budget(
        max_cost_microusd=round(dollars * 1_000_000) if dollars else None,
        max_tokens=int(tokens) if tokens else None,
        max_seconds=int(minutes) * 60 if minutes else None,
    )


def _dollars_of(budget: Budget) -> float | None:
    return max(budget.max_cost_microusd / 1_000_000, 0.01) if budget.max_cost_microusd else None


def _minutes_of(budget: Budget) -> int | None:
    return max(-(-budget.max_seconds // 60), 1) if budget.max_seconds else None
