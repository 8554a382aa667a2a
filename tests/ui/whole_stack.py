"""Runs the whole product as a user starts it, for tests that look at it with a browser: one stack for all of a file's tests."""

import asyncio
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from infra.local.home import Home
from infra.local.lock import read_state
from tests.support.model_stub import serve_model_stub
from tests.support.stack import RUBRICA, command_environment, heed_interrupt


class StackAddresses(NamedTuple):
    """The addresses of the local user's page and of the API, to which others sign up."""

    page: str
    api: str


@contextmanager
def run_whole_stack(folder: Path, **settings: str) -> Iterator[StackAddresses]:
    """Run `rubrica up` with these settings until the block ends."""
    home, output = Home(folder / "home"), folder / "up.out"
    with output.open("wb") as out:
        process = subprocess.Popen(
            [*RUBRICA, "up"],
            env=command_environment(RUBRICA_HOME=str(home.root), **settings),
            stdout=out,
            stderr=out,
            start_new_session=True,
            preexec_fn=heed_interrupt,
        )
    try:
        while b"Ctrl-C stops" not in output.read_bytes():
            assert process.poll() is None, output.read_text()
            time.sleep(0.1)
        state = read_state(home.state)
        assert state is not None
        assert state.ui is not None
        yield StackAddresses(state.ui, state.api)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


@contextmanager
def serve_stub_in_thread() -> Iterator[str]:
    """Serve the stand-in model in a thread, since Playwright's calls block this one's loop; yield its address."""
    loop, started, ended = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    address: list[str] = []

    async def serve() -> None:
        async with serve_model_stub() as stub:
            address.append(stub.base_url)
            started.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        started.wait()
        yield address[0]
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()
