"""The run that a visitor watches: its state now, asked for only when its log has grown or the state is old."""

from datetime import timedelta
from time import monotonic
from typing import NamedTuple

import streamlit as st

from rubrica_client import ApiError, runs
from rubrica_client.models import Run
from ui.facts import is_finished
from ui.language import now
from ui.progress import WatchedProgress
from ui.session import do_workers_answer, get_api, get_feed, update_progress

REFRESH = timedelta(seconds=1)
QUIET = timedelta(seconds=20)
LONGEST_UNASKED = timedelta(seconds=15)  # how long a run is not asked for while its log does not grow


class WatchedRun(NamedTuple):
    """A run as it stands, or as it last stood, with the error that keeps the page from knowing more."""

    run: Run
    progress: WatchedProgress
    trouble: ApiError | None
    whole: bool  # whether the log has its last event

    @property
    def is_stalled(self) -> bool:
        """Whether the run should go on, nothing has happened for a while, and the parts that carry it out do not answer."""
        last = self.progress.last_at or self.run.created_at
        quiet = now() - last > QUIET and self.run.status in ("queued", "running")
        return quiet and self.trouble is None and not do_workers_answer()


def begin_watching(run: Run) -> None:
    """Store the state of a run that was just loaded."""
    st.session_state["watched_run"] = (monotonic(), run)


def look_again() -> WatchedRun:
    """Return the watched run now."""
    asked_at, run = st.session_state["watched_run"]
    state, trouble = get_feed(run.id).look(), None
    grown = bool(state.events) and state.events[-1].seq > run.last_seq
    old = monotonic() - asked_at > LONGEST_UNASKED.total_seconds()
    if not is_finished(run) and (grown or state.problem or old):
        try:
            run = get_api().send(runs.get(run.id))
            begin_watching(run)
        except ApiError as error:
            trouble = error
    return WatchedRun(run, update_progress(state.events), trouble or state.problem, state.ended)


def remember_unfinished(run: Run) -> None:
    """Note that the visitor saw this run before its end."""
    st.session_state["seen_unfinished"] = run.id


def has_just_ended(run: Run) -> bool:
    """Return whether the report has become ready while the visitor watched, and they have not been at the report since.

    It stays so until `forget_unfinished`: a refresh of the page that is under way may undo the way to the report.
    """
    return run.status == "completed" and st.session_state.get("seen_unfinished") == run.id


def forget_unfinished() -> None:
    """Note that the visitor is at the report."""
    st.session_state.pop("seen_unfinished", None)
