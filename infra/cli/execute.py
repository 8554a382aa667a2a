"""Run one command: read the settings, turn errors into a message and an exit code, and Ctrl-C into an orderly end."""

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
from infra.cli.safe_output import print_safely
from rubrica_client.errors import ApiError

FAILED, UNUSABLE, INTERRUPTED, TERMINATED = 1, 2, 130, 143


def execute(work: Callable[[Settings], Awaitable[int]]) -> NoReturn:
    """Do `work` with the settings of the environment, then leave with its exit code.

    The first Ctrl-C (or SIGTERM, or a closed terminal) cancels the work, which stops what it started. A second one kills it.
    """
    leave_with(lambda: asyncio.run(_run_cancellable(work)))


def leave_with(work: Callable[[], int]) -> NoReturn:
    """Leave with the exit code of `work`, which prints safely."""
    try:
        with print_safely():
            code = _find_exit_code(work)
    except BrokenPipeError:
        # The reader of our output (`| head`) has what it wanted, and has left.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  the interpreter flushes it at exit
        code = FAILED
    raise typer.Exit(code)


def _find_exit_code(work: Callable[[], int]) -> int:
    """Return the exit code of `work`. Print an error of Rubrica as one message on standard error."""
    try:
        return work()
    except (RubricaError, ApiError) as error:
        print(f"rubrica: {error}", file=sys.stderr)
        return UNUSABLE if _is_unusable(error) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except asyncio.CancelledError:
        return TERMINATED


def _is_unusable(error: RubricaError | ApiError) -> bool:
    """Return whether the person has to change their input or settings. A conflict may pass by itself."""
    if isinstance(error, ApiError):
        return 400 <= error.status < 500 and error.status != HTTPStatus.CONFLICT
    return isinstance(error, SetupError | InvalidInput | NotFound)


def say(line: str) -> None:
    """Print a line on standard error, which is not the command's result."""
    print(line, file=sys.stderr, flush=True)


def command_name() -> str:
    """Return how this person can call the command: after `make setup`, it is not on the path."""
    if shutil.which("rubrica"):
        return "rubrica"
    return os.path.relpath(Path(sys.executable).parent / "rubrica")


async def _run_cancellable(work: Callable[[Settings], Awaitable[int]]) -> int:
    settings = read_settings(os.environ)
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGHUP):
        # A person who uses `nohup` wants the closing of the terminal ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await work(settings)
