"""The parsing of pages in child processes with a time limit, so that a hostile page costs a child, not a worker."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from datetime import timedelta
from pathlib import Path

import orjson

from retrieval.fetch.content import ReadableContent
from retrieval.fetch.errors import PageRefused
from retrieval.fetch.fetching import FetchedPage

AT_ONCE = 2
MAX_ANSWER = 64 << 20
_ROOT = Path(__file__).resolve().parents[2]


class PageParser:
    """A parser of pages in up to two child processes, started at the first use. It belongs to one event loop. Close it."""

    def __init__(self, limit: timedelta) -> None:
        self._limit = limit
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._idle: list[Process] = []

    async def parse(self, page: FetchedPage) -> ReadableContent:
        """Return the page's readable content. Raises `PageRefused` where there is none, or where parsing takes too long."""
        async with self._turns:
            child = self._idle.pop() if self._idle else await _start_child()
            try:
                async with asyncio.timeout(self._limit.total_seconds()):
                    answer = await _ask(child, page)
            except BaseException as error:
                _kill(child)
                await child.wait()
                if isinstance(error, TimeoutError | OSError | ValueError):
                    raise PageRefused("the page could not be read: it is too large, too slow or broken") from error
                raise
            self._idle.append(child)
        if "error" in answer:
            raise PageRefused(f"the page {answer['error']}")
        return ReadableContent.model_validate(answer["readable"])

    async def close(self) -> None:
        """End the child processes."""
        while self._idle:
            child = self._idle.pop()
            _kill(child)
            await child.wait()


async def _start_child() -> Process:
    """Start a child. Of this process's environment it knows only where Python and the product are."""
    environment = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(_ROOT), "LANG": "C.UTF-8"}
    command = (sys.executable, "-m", "retrieval.fetch.parsing_child")
    return await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment, limit=MAX_ANSWER, start_new_session=True
    )


async def _ask(child: Process, page: FetchedPage) -> dict[str, object]:
    assert child.stdin is not None  # both are pipes, see `_started`
    assert child.stdout is not None
    asked = {"size": len(page.body), "content_type": page.content_type, "charset": page.charset}
    child.stdin.write(orjson.dumps(asked) + b"\n" + page.body)
    await child.stdin.drain()
    return dict(orjson.loads(await child.stdout.readline()))


def _kill(child: Process) -> None:
    if child.returncode is None:
        child.kill()
