"""What one visitor's session keeps: a client of the API, and the event feed of the run being watched with what it came to."""

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from time import monotonic
from typing import TypeVar
from urllib.parse import urlsplit

import streamlit as st

from rubrica_client import ApiError, Client, accounts, documents, runs
from rubrica_client.models import Collection, Me, Run, RunEvent
from rubrica_client.patience import NONE
from ui.event_feed import EventFeed
from ui.progress import Progress, fold
from ui.sign_in import COOKIE

T = TypeVar("T")
DEFAULT_API = "http://127.0.0.1:8321"
LATEST = 6
MOST_COLLECTIONS = 100  # as many as the API tells at once
LATEST_FRESH = timedelta(seconds=10)
ANSWER_LIMIT = timedelta(seconds=10)


def api() -> Client:
    """The client, made once a session: it asks with the key that a local stack hands its page, else as who signed in."""
    address, sign = os.environ.get("RUBRICA_API_URL") or DEFAULT_API, _sign()
    client = st.session_state.get("api_client")
    if not isinstance(client, Client) or (client.address.url, client.address.headers) != (address.rstrip("/"), sign):
        client = st.session_state["api_client"] = open_client(address, sign)
        st.session_state.pop("me", None)
    return client


def open_client(address: str, sign: Mapping[str, str]) -> Client:
    """Return a client of a neighbour: no proxy stands between, and a visitor is told of trouble instead of waiting through it."""
    return Client(address, headers=sign, timeout=ANSWER_LIMIT, patience=NONE, trust_env=False)


def _sign() -> dict[str, str]:
    key, token = os.environ.get("RUBRICA_API_KEY"), session_token()
    if key:
        return {"Authorization": f"Bearer {key}"}
    return {"Cookie": f"{COOKIE}={token}"} if token else {}


def session_token() -> str:
    """What the browser shows of a session; empty where it has none, and where the page has a key of its own.

    Outside a browser there may be no cookies to ask.
    """
    if os.environ.get("RUBRICA_API_KEY"):
        return ""
    token: object = st.context.cookies.get(COOKIE)
    return token if isinstance(token, str) else ""


def stranger() -> bool:
    """Whether whoever looks has to sign in first. An API that does not answer is told by the page, not by a form."""
    if os.environ.get("RUBRICA_API_KEY"):
        return False
    if not session_token():
        return True
    try:
        me()
    except ApiError as problem:
        return problem.status == 401
    return False


def me() -> Me | None:
    """Who looks, asked once a session; None where the API knows no accounts.

    Raises:
        ApiError: nobody is known, or the API does not answer.
    """
    if "me" not in st.session_state:
        try:
            st.session_state["me"] = api().send(accounts.me())
        except ApiError as problem:
            if problem.status != 404:
                raise
            st.session_state["me"] = None
    held: Me | None = st.session_state["me"]
    return held


def feed(run_id: str) -> EventFeed:
    """The run's event feed; looking at another run lets go of the one before."""
    held: tuple[str, EventFeed] | None = st.session_state.get("event_feed")
    if held is None or held[0] != run_id:
        held = (run_id, EventFeed(api().address.url, api().address.headers, run_id))
        st.session_state["event_feed"] = held
        st.session_state.pop("progress", None)
    return held[1]


def progress(events: Sequence[RunEvent]) -> Progress:
    """What the events of the run being watched come to. Only those that are new since the last look are read."""
    read, known = st.session_state.get("progress") or (0, Progress())
    known = fold(events[read:], known)
    st.session_state["progress"] = (len(events), known)
    return known


def run_id() -> str:
    """The run in the address (`?run=`), so that a reload and a shared link show the same; else the one last looked at."""
    asked = st.query_params.get("run") or st.session_state.get("last_run", "")
    if asked:
        st.session_state["last_run"] = asked
        st.query_params["run"] = asked
    return str(asked)


def kept(name: str) -> str | None:
    """What the address asks for under this name. It is put there again: a link from a page to itself tells only one run of it."""
    asked = st.query_params.get(name)
    if asked:
        st.query_params[name] = asked
    return asked


def latest_runs() -> Sequence[Run]:
    """The newest runs, asked for anew when they are older than some seconds."""
    return _fresh("latest_runs", lambda: api().send(runs.list_(limit=LATEST)).items)


def own_collections() -> Sequence[Collection]:
    """The newest collections of own documents that may be searched, not older than some seconds."""
    return _fresh("own_collections", lambda: api().send(documents.collections(limit=MOST_COLLECTIONS)).items)


def _fresh(name: str, ask: Callable[[], T]) -> T:
    """What was asked for in the last seconds, or what is answered now."""
    held: tuple[float, T] | None = st.session_state.get(name)
    if held is None or monotonic() - held[0] > LATEST_FRESH.total_seconds():
        held = st.session_state[name] = (monotonic(), ask())
    return held[1]


def once(name: str, of: object, ask: Callable[[], T]) -> T:
    """What does not change while it is `of` the same thing: asked for once, until something else is looked at."""
    held: tuple[object, T] | None = st.session_state.get(name)
    if held is None or held[0] != of:
        held = st.session_state[name] = (of, ask())
    return held[1]


def page_address(path: str) -> str:
    """An address of this page as a browser knows it; `path` begins with a slash."""
    seen = urlsplit(st.context.url or "")
    return f"{seen.scheme}://{seen.netloc}{path}" if seen.netloc else path


def forget_run(run_id: str) -> None:
    """The run is gone: it is neither among the latest nor what pages without an address go on with."""
    forget_latest()
    if st.session_state.get("last_run") == run_id:
        del st.session_state["last_run"]


def forget_latest() -> None:
    """Ask for the newest runs anew the next time: there is one more."""
    st.session_state.pop("latest_runs", None)
