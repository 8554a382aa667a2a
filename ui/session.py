"""The state of one visitor's session: a client of the API, and the event feed and progress of the run being watched."""

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from time import monotonic
from typing import TypeVar
from urllib.parse import urlsplit

import streamlit as st

from rubrica_client import ApiError, Client, accounts, documents, runs, service
from rubrica_client.models import Collection, Me, Run, RunEvent, SourceKind, ToolList
from rubrica_client.patience import NONE
from ui.event_feed import EventFeed
from ui.progress import WatchedProgress, fold_events
from ui.sign_in import SESSION_COOKIE, get_api_address

T = TypeVar("T")
LATEST_COUNT = 6
MOST_COLLECTIONS = 100  # the most that the API lists at once
LATEST_FRESH = timedelta(seconds=10)
ANSWER_LIMIT = timedelta(seconds=10)


def get_api() -> Client:
    """Return the session's client. It uses the API key of a local stack if there is one, else the visitor's own session."""
    url, headers = get_api_address(), _make_auth_headers()
    client = st.session_state.get("api_client")
    if not isinstance(client, Client) or (client.address.url, client.address.headers) != (url, headers):
        client = st.session_state["api_client"] = open_client(url, headers)
        st.session_state.pop("me", None)
    return client


def open_client(url: str, headers: Mapping[str, str]) -> Client:
    """Return a client for an API near by: it uses no proxy, and it shows trouble to the visitor instead of trying again."""
    return Client(url, headers=headers, timeout=ANSWER_LIMIT, patience=NONE, trust_env=False)


def _make_auth_headers() -> dict[str, str]:
    key, token = os.environ.get("RUBRICA_API_KEY"), read_session_token()
    if key:
        return {"Authorization": f"Bearer {key}"}
    return {"Cookie": f"{SESSION_COOKIE}={token}"} if token else {}


def is_own_machine() -> bool:
    """Return whether the page belongs to one person, who runs the installation on a machine of their own."""
    return bool(os.environ.get("RUBRICA_API_KEY"))


def read_session_token() -> str:
    """Return the session token from the visitor's cookie; empty if there is none, or if the page has a key of its own.

    Outside a browser there may be no cookies.
    """
    if os.environ.get("RUBRICA_API_KEY"):
        return ""
    token: object = st.context.cookies.get(SESSION_COOKIE)
    return token if isinstance(token, str) else ""


def is_stranger() -> bool:
    """Return whether the visitor has to sign in first. If the API does not answer, the page reports that, not the form."""
    if os.environ.get("RUBRICA_API_KEY"):
        return False
    if not read_session_token():
        return True
    try:
        get_me()
    except ApiError as problem:
        return problem.status == 401
    return False


def get_me() -> Me | None:
    """Return the visitor, asked for once a session; None where the API has no accounts.

    Raises:
        ApiError: the visitor is not known, or the API does not answer.
    """
    if "me" not in st.session_state:
        try:
            st.session_state["me"] = get_api().send(accounts.me())
        except ApiError as problem:
            if problem.status != 404:
                raise
            st.session_state["me"] = None
    held: Me | None = st.session_state["me"]
    return held


def may(scope: str) -> bool:
    """Return whether the visitor has the scope, such as `runs:write`; always where the API has no accounts.

    Raises:
        ApiError: as `get_me`.
    """
    who = get_me()
    return who is None or scope in who.scopes


def get_feed(run_id: str) -> EventFeed:
    """Return the event feed of this run; the feed of another run is dropped."""
    held: tuple[str, EventFeed] | None = st.session_state.get("event_feed")
    if held is None or held[0] != run_id:
        held = (run_id, EventFeed(get_api().address.url, get_api().address.headers, run_id))
        st.session_state["event_feed"] = held
        st.session_state.pop("progress", None)
    return held[1]


def update_progress(events: Sequence[RunEvent]) -> WatchedProgress:
    """Return the progress that the watched run's events add up to. Only events that are new since the last call are read."""
    read, known = st.session_state.get("progress") or (0, WatchedProgress())
    known = fold_events(events[read:], known)
    st.session_state["progress"] = (len(events), known)
    return known


def read_run_id() -> str:
    """Return the run in the address (`?run=`), else the one last opened, and write it into the address for reloads and links."""
    chosen = st.query_params.get("run") or st.session_state.get("last_run", "")
    if chosen:
        st.session_state["last_run"] = chosen
        st.query_params["run"] = chosen
    return str(chosen)


def read_query(name: str) -> str | None:
    """Return the value of a query parameter and set it again, because a link from a page to itself keeps it for one run only."""
    value = st.query_params.get(name)
    if value:
        st.query_params[name] = value
    return value


def list_latest_runs() -> Sequence[Run]:
    """Return the newest runs; they are at most some seconds old."""
    return _ask_if_old("latest_runs", lambda: get_api().send(runs.list_(limit=LATEST_COUNT)).items)


def do_workers_answer() -> bool:
    """Return whether the parts that carry out runs answer; asked for at most every few seconds."""
    return _ask_if_old("workers", _check_workers)


def _check_workers() -> bool:
    try:
        get_api().send(service.health())  # where only a disk is full, it is answered and not ok
    except ApiError as problem:
        return problem.status != 503
    return True


def list_own_collections() -> Sequence[Collection]:
    """Return the newest collections of the visitor's own documents; they are at most some seconds old."""
    return _ask_if_old("own_collections", lambda: get_api().send(documents.collections(limit=MOST_COLLECTIONS)).items)


def get_equipment() -> ToolList | None:
    """Return what there is to ask with here: sources, systems, models, mail; None where the API does not say."""
    try:
        return _ask_if_old("equipment", lambda: get_api().send(service.tools(days=1)))
    except ApiError:
        return None  # the page asks the same API for the latest runs, and shows the error


def list_searchable() -> Sequence[SourceKind]:
    """Return the kinds of sources that a run can search here; all kinds where the API does not say."""
    there = get_equipment()
    return there.sources if there else tuple(SourceKind)


def has_model() -> bool:
    """Return whether a language model works new runs; also where the API does not say."""
    there = get_equipment()
    return there is None or bool(there.models)


def _ask_if_old(name: str, ask: Callable[[], T]) -> T:
    """Return the answer of the last seconds, or ask for a new one."""
    held: tuple[float, T] | None = st.session_state.get(name)
    if held is None or monotonic() - held[0] > LATEST_FRESH.total_seconds():
        held = st.session_state[name] = (monotonic(), ask())
    return held[1]


def ask_once(name: str, of: object, ask: Callable[[], T]) -> T:
    """Return an answer that stays true for the key `of`: `ask` is called again only when the key changes."""
    held: tuple[object, T] | None = st.session_state.get(name)
    if held is None or held[0] != of:
        held = st.session_state[name] = (of, ask())
    return held[1]


def make_page_address(path: str) -> str:
    """Return an address of this page as a browser knows it; `path` begins with a slash."""
    parts = urlsplit(st.context.url or "")
    return f"{parts.scheme}://{parts.netloc}{path}" if parts.netloc else path


def forget_run(run_id: str) -> None:
    """Drop a deleted run from the latest runs and from the run that pages open without an address."""
    forget_latest()
    if st.session_state.get("last_run") == run_id:
        del st.session_state["last_run"]


def forget_latest() -> None:
    """Make the next call ask for the newest runs again, because they have changed."""
    st.session_state.pop("latest_runs", None)
