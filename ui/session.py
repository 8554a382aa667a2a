"""What one visitor's session keeps: a client of the API, and the event feed of the run being watched with what it came to."""

import os
from collections.abc import Sequence
from datetime import timedelta
from time import monotonic

import streamlit as st

from ui.api_client import ApiClient
from ui.event_feed import EventFeed
from ui.models import Event, Run
from ui.progress import Progress, fold

DEFAULT_API = "http://127.0.0.1:8321"
LATEST = 6
LATEST_FRESH = timedelta(seconds=10)


def api() -> ApiClient:
    """The client, made once a session from `RUBRICA_API_URL`."""
    address = os.environ.get("RUBRICA_API_URL") or DEFAULT_API
    client = st.session_state.get("api_client")
    if not isinstance(client, ApiClient) or client.base_url != address.rstrip("/"):
        client = st.session_state["api_client"] = ApiClient(address, _sign())
    return client


def _sign() -> dict[str, str]:
    """The key that a stack on one's own machine hands its page."""
    key = os.environ.get("RUBRICA_API_KEY")
    return {"Authorization": f"Bearer {key}"} if key else {}


def feed(run_id: str) -> EventFeed:
    """The run's event feed; looking at another run lets go of the one before."""
    held: tuple[str, EventFeed] | None = st.session_state.get("event_feed")
    if held is None or held[0] != run_id:
        held = (run_id, EventFeed(ApiClient(api().base_url, api().sign), run_id))
        st.session_state["event_feed"] = held
        st.session_state["progress"] = Progress()
    return held[1]


def progress(events: Sequence[Event]) -> Progress:
    """What the events of the run being watched come to. Only those that are new since the last look are read."""
    known: Progress = st.session_state.setdefault("progress", Progress())
    new = [event for event in events[known.seen :] if event.seq > known.seen]
    return fold(new, known)


def run_id() -> str:
    """The run in the address (`?run=`), so that a reload and a shared link show the same; else the one last looked at."""
    asked = st.query_params.get("run") or st.session_state.get("last_run", "")
    if asked:
        st.session_state["last_run"] = asked
        st.query_params["run"] = asked
    return str(asked)


def latest_runs() -> Sequence[Run]:
    """The newest runs, asked for anew when they are older than some seconds."""
    held: tuple[float, Sequence[Run]] | None = st.session_state.get("latest_runs")
    if held is None or monotonic() - held[0] > LATEST_FRESH.total_seconds():
        held = (monotonic(), api().runs(limit=LATEST).items)
        st.session_state["latest_runs"] = held
    return held[1]


def forget_latest() -> None:
    """Ask for the newest runs anew the next time: there is one more."""
    st.session_state.pop("latest_runs", None)
