"""Run a server as a child process, in its own process group, with a log file. It never outlives its parent."""

import asyncio
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from app.domain.errors import SetupError
from infra.local.privileges import Account

STOP_PATIENCE = timedelta(seconds=10)
POLL = timedelta(milliseconds=25)
LOG_LINES_SHOWN = 30
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Program:
    """A command, and how to end it.

    `environment` None means the parent's own. The kernel sends `orphan_signal` when the parent dies (Linux). By default it
    kills, since services lose nothing by that; a server that needs an orderly end names another signal.
    """

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str] | None = None
    account: Account | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    orphan_signal: signal.Signals = signal.SIGKILL
    patience: timedelta = STOP_PATIENCE
    gated: bool = False


@dataclass
class Process:
    """A started `Program`. Start it from the main thread: on Linux a child dies with the thread that made it."""

    program: Program
    _child: "subprocess.Popen[bytes]" = field(init=False)
    _log_start: int = field(init=False)

    def __post_init__(self) -> None:
        self.program.log.parent.mkdir(parents=True, exist_ok=True)
        with self.program.log.open("ab") as log:
            self._log_start = log.tell()
            try:
                self._child = subprocess.Popen(
                    self.program.command,
                    stdin=subprocess.PIPE if self.program.gated else subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=self.program.environment,
                    start_new_session=True,
                    preexec_fn=_prepare(self.program),
                )
            except (OSError, subprocess.SubprocessError) as error:
                command = self.program.command[0]
                raise SetupError(f"{self.program.name} cannot be started: {error} (command: {command})") from error

    @property
    def pid(self) -> int:
        """The child's process id, which is also its process group."""
        return self._child.pid

    @property
    def alive(self) -> bool:
        """True while the child runs."""
        return self._child.poll() is None

    @property
    def exit_code(self) -> int | None:
        """The exit code: None while the child runs, negative when a signal ended it."""
        return self._child.poll()

    def read_log_tail(self, lines: int = LOG_LINES_SHOWN) -> str:
        """Return the last lines that this process wrote."""
        with self.program.log.open("rb") as log:
            # A log that was set aside meanwhile begins anew.
            log.seek(self._log_start if self._log_start <= log.seek(0, os.SEEK_END) else 0)
            return "\n".join(log.read().decode(errors="replace").splitlines()[-lines:])

    def send_line(self, line: bytes) -> None:
        """Write one line to a gated program and close its input. Nothing happens when the program has ended."""
        if self._child.stdin is not None and not self._child.stdin.closed:
            with contextlib.suppress(BrokenPipeError), self._child.stdin as gate:
                gate.write(line)

    def ask_to_stop(self) -> None:
        """Send the stop signal and return at once."""
        if self.alive:
            self._child.send_signal(self.program.stop_signal)

    def kill(self) -> None:
        """Kill the whole group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._child.wait()
        if self._child.stdin is not None:
            self._child.stdin.close()

    def stop(self) -> None:
        """Ask the child to stop, wait for the program's patience, then kill the rest of the group. Safe to repeat."""
        self.ask_to_stop()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(self.program.patience.total_seconds())
        self.kill()

    async def wait_until_ready(self, ready: Callable[[], Awaitable[bool]], limit: timedelta, hint: str = "") -> None:
        """Wait until `ready()` returns True.

        Raises:
            SetupError: the process ended first or took longer than `limit`; the message has its last log lines.
        """
        deadline = time.monotonic() + limit.total_seconds()
        while not await ready():
            if not self.alive:
                raise self.build_failure(f"ended with code {self.exit_code} while starting", hint)
            if time.monotonic() > deadline:
                raise self.build_failure(f"was not ready after {limit.total_seconds():.0f} s", hint)
            await asyncio.sleep(POLL.total_seconds())

    async def wait_for_end(self) -> int:
        """Wait for the end and return the exit code."""
        while (code := self.exit_code) is None:
            await asyncio.sleep(4 * POLL.total_seconds())
        return code

    def build_failure(self, what: str, hint: str = "") -> SetupError:
        """Return an error that says what happened and what to do, with the last lines of the log."""
        advice = f" {hint}" if hint else ""
        return SetupError(f"{self.program.name} {what}.{advice} Log: {self.program.log}\n{self.read_log_tail()}".rstrip())


def _prepare(program: Program) -> Callable[[], None]:
    """Return what the child runs before `exec`: change account, then ask the kernel to end it when the parent dies."""
    become = program.account.assume() if program.account else None
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    parent = os.getpid()

    def prepare() -> None:
        if become is not None:
            become()
        if libc is not None:
            libc.prctl(_PR_SET_PDEATHSIG, int(program.orphan_signal), 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)

    return prepare
