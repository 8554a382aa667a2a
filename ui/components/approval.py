"""A plan that waits for approval. The reader can change the plan and the rubric first."""

import streamlit as st

from rubrica_client import ApiError, Client, asking, runs
from rubrica_client.models import Criterion, ResearchPlan, RubricView, Run
from ui.components import plan_editor, problem, rubric_editor
from ui.components.markup import escape
from ui.language import say


def show(client: Client, run: Run, plan: ResearchPlan) -> None:
    """Draw the plan and the rubric as forms. Approving sends what was changed, then starts the run."""
    st.html(f'<div class="r-note" role="status">{escape(say("approve.lead"))}</div>')
    rubric = _load_rubric(client, run)
    unseen = plan_editor.has_changed(f"plan_{run.id}", plan)
    steps, criteria = st.tabs([say("watch.plan"), say("approve.rubric")]) if rubric else (st.container(), None)
    with steps:
        revised = plan_editor.show(f"plan_{run.id}", plan)
    edited: tuple[Criterion, ...] = ()
    if rubric and criteria:
        with criteria:
            st.caption(say("approve.rubric_help"))
            if rubric.rubric.notice:
                st.html(f'<div class="r-note warn">{escape(rubric.rubric.notice)}</div>')
            unseen = unseen or rubric_editor.has_changed(f"rubric_{run.id}", rubric.rubric.criteria)
            edited = rubric_editor.show(f"rubric_{run.id}", rubric.rubric.criteria, run.query.language)
    go = say("approve.go")
    with st.container(key="approve_bar"):
        empty = not revised.subtasks
        agreed = st.button(
            go,
            key=f"plan_{run.id}_save",
            type="primary",
            icon=":material/check:",
            disabled=empty,
            help=say("plan.empty") if empty else None,
        )
    if agreed and unseen:
        st.html(f'<div class="r-note warn" role="alert">{escape(say("approve.changed"))}</div>')
    elif agreed:
        _begin_research(
            client,
            run,
            revised if revised != plan else None,
            edited if rubric and edited != tuple(rubric.rubric.criteria) else None,
        )


def _load_rubric(client: Client, run: Run) -> RubricView | None:
    """Return the run's rubric; None if it has none."""
    try:
        return client.send(asking.rubric(run.id))
    except ApiError as error:
        if error.status != 404:
            problem.show(error)
        return None


def _begin_research(client: Client, run: Run, plan: ResearchPlan | None, criteria: tuple[Criterion, ...] | None) -> None:
    try:
        if plan:
            client.send(runs.revise_plan(run.id, plan, plan.revision))
        if criteria is not None:
            client.send(asking.edit_rubric(run.id, criteria))
        client.send(runs.approve(run.id))
    except ApiError as error:
        problem.show(error)
        return
    plan_editor.forget(f"plan_{run.id}")
    rubric_editor.forget(f"rubric_{run.id}")
    st.toast(say("approve.begun"))
    st.rerun()
