"""The page of a run at work: the plan, the agents, the sources as they arrive, its usage, and the controls."""

from typing import Literal

import streamlit as st

from rubrica_client import ApiError, runs
from rubrica_client.models import Run
from rubrica_client.runs import PARKED
from ui import navigation
from ui.components import approval, controls, done_notice, pace_bar, problem, purposes, run_header, safe_fragments
from ui.components.markup import escape, labelled_html
from ui.components.meters import meters_html
from ui.components.page_title import name_page
from ui.components.plan_tree import plan_html
from ui.components.run_activity import agents_html, log_html, notices_html, seen_sources_html
from ui.event_feed import FeedState
from ui.facts import is_finished
from ui.language import now, say, say_name
from ui.progress import WatchedProgress
from ui.session import get_api, get_feed, may, read_run_id
from ui.watching import REFRESH, begin_watching, has_just_ended, look_again, remember_unfinished

STATES_WITH_DETAIL = ("failed", "cancelled", "paused", "budget_reached")


def main() -> None:
    """Show the run in the address, live until it has finished."""
    chosen = read_run_id()
    if not chosen:
        run_header.show_no_run()
        return
    try:
        run = get_api().send(runs.get(chosen))
    except ApiError as error:
        problem.show(error)
        st.button(say("watch.again"), icon=":material/refresh:")
        return
    if has_just_ended(run):
        navigation.lead_to("views/read.py", run=run.id)
        return
    name_page(run.query.question, say("nav.watch"))
    begin_watching(run)
    settled = is_finished(run) and get_feed(run.id).look().ended
    every = None if settled else REFRESH
    planned = bool(run.plan or look_again().progress.plan)
    safe_fragments.make_fragment(_show_standing, run_every=every)(settled, run.status == "awaiting_approval", planned)
    if not may("runs:write"):
        pass  # who only reads sees the work
    elif run.status == "awaiting_approval":
        safe_fragments.make_fragment(_show_approval)()
    elif not is_finished(run):
        safe_fragments.make_fragment(_show_steering)()
    done_notice.offer(run)
    safe_fragments.make_fragment(_show_work, run_every=every)()


def _show_standing(settled: bool, waiting: bool, planned: bool) -> None:
    """Draw where the run stands, and the buttons. The refresh stops when the run is over and its log is whole.

    The whole page runs again when a plan appears, which can then be changed, when the run begins or stops waiting for
    approval, and at the end, which opens the report. Each zone is a container, so that what opens and closes in one does not
    disturb another.
    """
    watched = look_again()
    run, known, trouble, whole = watched
    if not is_finished(run):
        remember_unfinished(run)
    with st.container():
        run_header.show(run, "views/watch.py")
    with st.container():
        _show_notices(run, known, trouble)
        if watched.is_stalled:
            problem.show_stalled()
    with st.container():
        st.html(pace_bar.pace_html(run, known, now(), pace_bar.find_likely_time(run)) + meters_html(run, known, now()))
        purposes.show(get_api(), run)
    with st.container():
        controls.show(get_api(), run)
    turned = (run.status == "awaiting_approval") != waiting or bool(run.plan or known.plan) != planned
    if turned or (is_finished(run) and whole and not settled):
        st.rerun()


def _show_approval() -> None:
    """Draw the waiting plan. The refresh leaves it alone, because somebody may be typing."""
    run, known, _, _ = look_again()
    plan = run.plan or known.plan
    if plan:
        approval.show(get_api(), run, plan)


def _show_steering() -> None:
    """Draw the controls. The refresh leaves them alone, because somebody may be typing."""
    run, known, _, _ = look_again()
    controls.show_steering(get_api(), run, known.plan)


def _show_work() -> None:
    """Draw what the agents do and what they have found."""
    run, known, _, _ = look_again()
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.html(labelled_html(say("watch.plan"), plan_html(known, still=is_finished(run) or run.status in PARKED)))
    with right:
        agents = agents_html(known, now())
        st.html(labelled_html(say("watch.agents"), agents) if agents else "<i></i>")
        _show_tabs(known, get_feed(run.id).look())


def _show_notices(run: Run, known: WatchedProgress, trouble: ApiError | None) -> None:
    if trouble:
        problem.show(trouble)
    if run.status in STATES_WITH_DETAIL and run.detail:
        kind = "bad" if run.status == "failed" else ""
        why = f"<strong>{escape(say_name('reason', run.reason))}</strong>" if run.reason else ""
        st.html(f'<div class="r-note {kind}" role="status">{why}{escape(problem.explain_stop(run))}</div>')
    notices = notices_html(known)
    if notices:
        st.html(notices)
    _offer_report(run, known)


def _offer_report(run: Run, known: WatchedProgress) -> None:
    """Draw the way to the report: once it is ready, and while it is being written."""
    label = say("watch.read") if run.status == "completed" else say("watch.read_along")
    if run.status == "completed" or known.written:
        kind: Literal["primary", "secondary"] = "primary" if run.status == "completed" else "secondary"
        if st.button(label, key="read", type=kind, icon=":material/article:"):
            navigation.open_page("views/read.py", run=run.id)


def _show_tabs(known: WatchedProgress, state: FeedState) -> None:
    # The labels never change: Streamlit takes a tab with a new label for a new tab, and goes back to the first one.
    sources, log, notes = st.tabs([say("watch.sources"), say("watch.log"), say("watch.notes")], key="watch_tabs")
    with sources:
        st.html(seen_sources_html(known))
    with log:
        st.html(log_html(state.events, known))
    with notes:
        notes_html = "".join(f'<div class="r-note">{escape(note)}</div>' for note in known.notes)
        st.html(notes_html or f'<p class="r-quiet">{escape(say("watch.no_notes"))}</p>')


main()
