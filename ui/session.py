"""What one visitor's session keeps: a client of the API and the event feeds of the runs being watched."""

import os
from datetime import UTC, datetime

import streamlit as st

from ui.api_client import ApiClient
from ui.event_feed import EventFeed

DEFAULT_API = "http://127.0.0.1:8321"


def api() -> ApiClient:
    """The client, made once a session from `RUBRICA_API_URL`."""
    address = os.environ.get("RUBRICA_API_URL") or DEFAULT_API
    client = st.session_state.get("api_client")
    if not isinstance(client, ApiClient) or client.base_url != address.rstrip("/"):
        client = st.session_state["api_client"] = ApiClient(address)
    return client


def feed(run_id: str) -> EventFeed:
    """The run's event feed; looking at another run lets go of the one before."""
    held: tuple[str, EventFeed] | None = st.session_state.get("event_feed")
    if held is None or held[0] != run_id:
        held = (run_id, EventFeed(ApiClient(api().base_url), run_id))
        st.session_state["event_feed"] = held
    return held[1]


def run_id() -> str:
    """The run in the address (`?run=`), so that a reload and a shared link show the same; else the one last looked at."""
    asked = st.query_params.get("run") or st.session_state.get("last_run", "")
    if asked:
        st.session_state["last_run"] = asked
        st.query_params["run"] = asked
    return str(asked)


def now() -> datetime:
    """The time, for elapsed clocks."""
    return datetime.now(UTC)
