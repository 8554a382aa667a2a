"""Watch a run: the plan, each subtask, the sources as they arrive, what it uses, and the means to steer it."""

from datetime import timedelta

import streamlit as st

from ui.api_client import ApiProblem
from ui.components import controls, problem, run_header
from ui.components.lists import log_html, notices_html, sources_html
from ui.components.markup import text
from ui.components.meters import meters_html
from ui.components.plan_tree import plan_html
from ui.event_feed import FeedState
from ui.models import PARKED, Run
from ui.progress import Progress, fold
from ui.session import api, feed, now, run_id

REFRESH = timedelta(seconds=1)


def main() -> None:
    """The run named in the address, live until it has finished."""
    chosen = run_id()
    if not chosen:
        st.html(run_header.NO_RUN)
        return
    try:
        run = api().run(chosen)
    except ApiProblem as error:
        problem.show(error)
        st.button("Try again", icon=":material/refresh:")
        return
    st.session_state["watched_run"] = run
    settled = run.finished and feed(run.id).look().ended
    st.fragment(_live, run_every=None if settled else REFRESH)(settled)


def _live(settled: bool) -> None:
    """One refresh; none follows where the run is over and its log is whole.

    Zones are containers, so that what opens and closes in one does not disturb another.
    """
    run, trouble = _latest()
    state = feed(run.id).look()
    progress = fold(state.events)
    with st.container():
        run_header.show(run, "views/watch.py")
    with st.container():
        _notices(run, progress, trouble or state.problem)
    with st.container():
        st.html(meters_html(run, progress, now()))
    with st.container():
        controls.show(api(), run)
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.html('<div class="r-label">Plan</div>')
        st.html(plan_html(progress, still=run.finished or run.status in PARKED))
    with right:
        _beside(run, progress, state)
    if run.finished and state.ended and not settled:
        st.rerun()


def _latest() -> tuple[Run, ApiProblem | None]:
    """The run now, or as it was last seen with the reason why there is no newer."""
    held: Run = st.session_state["watched_run"]
    if held.finished:
        return held, None
    try:
        held = st.session_state["watched_run"] = api().run(held.id)
    except ApiProblem as error:
        return held, error
    return held, None


def _notices(run: Run, progress: Progress, trouble: ApiProblem | None) -> None:
    if trouble:
        problem.show(trouble)
    if run.status in ("failed", "cancelled", "paused", "budget_reached") and run.detail:
        st.html(
            f'<div class="r-note {"bad" if run.status == "failed" else ""}">{text(run.detail[:1].upper() + run.detail[1:])}</div>'
        )
    notices = notices_html(progress)
    if notices:
        st.html(notices)
    if run.status == "completed" and st.button("Read the report", key="read", type="primary", icon=":material/article:"):
        st.switch_page("views/read.py", query_params={"run": run.id})


def _beside(run: Run, progress: Progress, state: FeedState) -> None:
    # Labels stay as they are: a tab whose label changes is a new tab, and the reader would be thrown back to the first.
    sources, log, notes = st.tabs(["Sources", "Log", "Notes"])
    with sources:
        st.html(sources_html(progress))
    with log:
        st.html(log_html(state.events))
    with notes:
        for note in progress.notes:
            st.html(f'<div class="r-note">{text(note)}</div>')
        if not run.finished:
            controls.note_form(api(), run)
        elif not progress.notes:
            st.caption("No notes were given.")


main()
