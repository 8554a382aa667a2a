"""Serves a real API in a thread, and signs organisations up to it through the forms of the page's server."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from starlette.applications import Starlette
from starlette.testclient import TestClient

from app.database.engine import connect
from app.http.services import open_services
from app.runs.storage.run_log import RunLog
from rubrica_client import Client
from tests.app.served_api import InMemoryRuns, serve_api
from ui import shared_report, sign_in
from ui.session import open_client
from ui.sign_in import SESSION_COOKIE

PASSWORD = "four words nobody guesses"


@dataclass
class ServedApi:
    """A served API; `report` writes the report of a run as a worker would."""

    url: str
    report: Callable[[str], None]


@contextmanager
def serve_real_api(urls: tuple[str, str], owner_url: str, write: Callable[..., object]) -> Iterator[ServedApi]:
    """Serve the API on a database until the block ends; `write(pool, run_id)` is the worker's part."""
    loop, ready, stop = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    held: list[ServedApi] = []

    async def serve() -> None:
        pool = await connect(owner_url)
        try:
            async with open_services(*urls, InMemoryRuns(RunLog(pool))) as services, serve_api(services) as served:

                def report(run_id: str) -> None:
                    asyncio.run_coroutine_threadsafe(write(pool, UUID(run_id)), loop).result(10)  # type: ignore[arg-type]

                held.append(ServedApi(served.address, report))
                ready.set()
                await stop.wait()
        finally:
            ready.set()
            await pool.close()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    ready.wait()
    try:
        yield held[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def sign_up(api_url: str, name: str) -> tuple[TestClient, Client]:
    """Sign up an organisation by the page's form; return its browser, and the page's client for that session."""
    browser = TestClient(
        Starlette(routes=[*sign_in.ROUTES, *shared_report.ROUTES]), base_url="http://page.example", follow_redirects=False
    )
    form = {"organisation": name, "person": "Ann", "email": f"ann@{name}.example", "password": PASSWORD}
    answer = browser.post("/sign-up", data=form, headers={"Origin": "http://page.example"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/"), answer.text
    return browser, open_client(api_url, {"Cookie": f"{SESSION_COOKIE}={browser.cookies[SESSION_COOKIE]}"})
