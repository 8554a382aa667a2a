"""Run one command: read the settings, turn errors into a line and an exit code, and Ctrl-C into an orderly end."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path
from typing import NoReturn

import typer

from app.domain.errors import InvalidInput, NotFound, RubricaError, SetupError
from app.settings import Settings, read_settings
from rubrica_client.errors import ApiError

FAILED, UNUSABLE, INTERRUPTED, TERMINATED = 1, 2, 130, 143


def execute(work: Callable[[Settings], Awaitable[int]]) -> NoReturn:
    """Do `work` with the environment's settings, then leave with its exit code.

    The first Ctrl-C (or SIGTERM, or a closed terminal) cancels the work, which stops what it started; the second ends it at once.
    """
    leave_with(lambda: asyncio.run(_cancellable(work)))


def leave_with(work: Callable[[], int]) -> NoReturn:
    """Leave with the exit code of `work`. An error of ours is one message on standard error and a code of its own."""
    try:
        code = work()
    except (RubricaError, ApiError) as error:
        print(f"rubrica: {error}", file=sys.stderr)
        code = UNUSABLE if _is_unusable(error) else FAILED
    except KeyboardInterrupt:
        code = INTERRUPTED
    except asyncio.CancelledError:
        code = TERMINATED
    except BrokenPipeError:
        # The reader of our output (`| head`) has left; what it wanted, it has.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  the interpreter flushes it at exit
        code = FAILED
    raise typer.Exit(code)


def _is_unusable(error: RubricaError | ApiError) -> bool:
    """Whether the person has to change what they typed or set; a conflict may be over by itself."""
    if isinstance(error, ApiError):
        return 400 <= error.status < 500 and error.status != HTTPStatus.CONFLICT
    return isinstance(error, SetupError | InvalidInput | NotFound)


def say(line: str) -> None:
    """Tell the person something that is not the command's result."""
    print(line, file=sys.stderr, flush=True)


def rubrica() -> str:
    """How this person can call the command: through `make` it is not on the path."""
    if shutil.which("rubrica"):
        return "rubrica"
    return os.path.relpath(Path(sys.executable).parent / "rubrica")


async def _cancellable(work: Callable[[Settings], Awaitable[int]]) -> int:
    settings = read_settings(os.environ)
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGHUP):
        # `nohup` has the closing of the terminal ignored; that is for the person to decide.
        if signal.getsignal(number) is not signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await work(settings)
