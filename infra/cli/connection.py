"""Choose the API for a command: the one that a setting names, the running stack's, or that of a stack started for it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from app.domain.errors import Conflict, SetupError
from app.settings import Settings
from infra.local.home import Home
from infra.local.lock import FileLock, StackState, read_state
from infra.local.service import get_http_status
from infra.local.stack import Stack
from rubrica_client import AsyncClient, Patience
from rubrica_client.patience import NONE

T = TypeVar("T")
OTHER_STACK_LIMIT = timedelta(seconds=120)
POLL = timedelta(milliseconds=100)
REQUEST_LIMIT = timedelta(seconds=60)
# Watching a run goes on through a restart of the API. Other commands fail at once when there is no API.
WATCH_PATIENCE = Patience(total=timedelta(seconds=60), first_pause=timedelta(seconds=0.5), longest_pause=timedelta(seconds=0.5))


@dataclass(frozen=True)
class Connection:
    """An API that can be used, and the retrieval service and the page beside it where this machine has them."""

    api: AsyncClient
    retrieval: str | None
    stack: Stack | None = None
    page: str | None = None

    async def run_while_healthy(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`, unless a part of the stack that was started for it fails to start.

        Raises:
            SetupError: a part cannot start; the message is its own.
        """
        task = asyncio.ensure_future(work)
        started = asyncio.ensure_future(self.stack.complete() if self.stack else asyncio.sleep(0))
        try:
            await asyncio.wait((task, started), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                await started
            return await task
        finally:
            task.cancel()
            started.cancel()


def open_api(address: str, key: str | None = None) -> AsyncClient:
    """Return a client of the API at this address. It uses no proxy, since the address may be this machine."""
    return AsyncClient(address, key, timeout=REQUEST_LIMIT, patience=NONE, trust_env=False)


@asynccontextmanager
async def open_connection(settings: Settings, say: Callable[[str], None]) -> AsyncIterator[Connection]:
    """Open a connection to the API. Start a stack where none runs, and stop it at the end.

    Raises:
        SetupError: nothing runs and nothing can be started.
    """
    key = settings.api_key.get_secret_value() if settings.api_key else None
    if settings.api_url is not None:
        async with open_api(settings.api_url, key) as api:
            yield Connection(api, settings.retrieval_url)
        return
    home = Home(settings.home)
    stack, state = await _find_or_start(settings, home, say)
    users = FileLock(home.users)
    users.acquire(shared=True)
    try:
        async with open_api(state.api, key or str(home.ensure_api_key())) as api:
            yield Connection(api, state.retrieval, stack, state.ui)
    finally:
        users.release()
        if stack is not None:
            try:
                await stack.wait_for_other_users()
            finally:
                stack.stop()


async def _find_or_start(settings: Settings, home: Home, say: Callable[[str], None]) -> tuple[Stack | None, StackState]:
    deadline = asyncio.get_running_loop().time() + OTHER_STACK_LIMIT.total_seconds()
    while asyncio.get_running_loop().time() < deadline:
        if not FileLock(home.lock).is_held_by_another():
            stack = Stack(settings, with_ui=False, say=say)
            try:
                await stack.start()
            except Conflict:
                continue  # another command has started one meanwhile
            return stack, stack.state
        state = read_state(home.state)
        if state is not None and await get_http_status(state.api, "/health") == 200:
            if settings.local_model is not None:
                say(f"a stack is running on {home.root}: it keeps to its own settings, RUBRICA_LOCAL_MODEL changes nothing there")
            return None, state
        await asyncio.sleep(POLL.total_seconds())
    raise SetupError(f"a stack is running on {home.root}, but its API does not answer; see {home.logs}, or stop it and try again")
