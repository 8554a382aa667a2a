"""`rubrica up`: run the whole product until Ctrl-C."""

import asyncio
import time

from app.domain.errors import Conflict, SetupError
from app.settings import Settings
from infra.cli.execute import say
from infra.local.home import Home
from infra.local.interrupt import name_stop
from infra.local.lock import read_state
from infra.local.stack import Stack


async def run_stack(settings: Settings, with_ui: bool) -> int:
    """Start everything, print the addresses and keep it running until this task is cancelled.

    Raises:
        SetupError: a part cannot start, or a stack runs already.
    """
    begun = time.monotonic()
    stack = Stack(settings, with_ui, say)
    try:
        api = await stack.start()
        print(f"API       {api}   (ready after {time.monotonic() - begun:.1f} s; description: {api}/schema)", flush=True)
        await stack.complete()
        state = stack.state
        if state.ui:
            print(f"page      {state.ui}")
        print(f"Temporal  {state.temporal}\nlogs      {stack.home.logs}\n{name_stop()} stops all of it.", flush=True)
        await asyncio.Event().wait()
    except Conflict as error:
        raise SetupError(_describe_running(stack.home, error)) from error
    finally:
        if stack.running:
            say("stopping")
        stack.stop()
    return 0


def _describe_running(home: Home, error: Conflict) -> str:
    state = read_state(home.state)
    if state is None:
        return str(error)
    page = f", page {state.ui}" if state.ui else ""
    return f"{error}: API {state.api}{page} (process {state.pid}). Use it, stop it, or set RUBRICA_HOME for another one."
