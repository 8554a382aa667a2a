"""Allow one stack on a home, by a lock that the kernel frees when its holder dies, and store its addresses in a state file.

There are two locks. The stack holds `stack.lock`. Every command that talks to the stack holds `stack.users`, shared, so that
the command that started the stack does not stop it while another one uses it.
"""

import contextlib
import fcntl
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

from infra.local.home import make_folder


class FileLock:
    """An advisory lock on a file (`flock`). The file stays, but the lock ends with its process, so none can be stale."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self, shared: bool = False) -> bool:
        """Take the lock without waiting. Return False when another process holds it.

        Raises:
            SetupError: the lock's folder cannot be made or written.
        """
        make_folder(self._path.parent)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Release the lock. Safe to repeat."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def is_held_by_another(self) -> bool:
        """Return whether another process holds the lock."""
        if self._descriptor is not None:
            return False
        probe = FileLock(self._path)
        free = probe.acquire()
        probe.release()
        return not free


@dataclass(frozen=True)
class StackState:
    """A running stack, as other commands need it. `processes` maps a name to (process id, start time in seconds).

    `pid` and `started` are those of its supervisor.
    """

    pid: int
    api: str
    started: float = 0
    ui: str | None = None
    temporal: str | None = None
    retrieval: str | None = None
    processes: dict[str, tuple[int, float]] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Replace the state file in one step."""
        scratch = path.with_suffix(".new")
        scratch.write_text(json.dumps(asdict(self), indent=1))
        scratch.rename(path)


def read_state(path: Path) -> StackState | None:
    """Return the state file's content, or None when there is no file or it was cut short."""
    try:
        return StackState(**json.loads(path.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def read_start_time(pid: int) -> float:
    """Return when a process started (seconds): with its number, this names the process for good."""
    return psutil.Process(pid).create_time()


def kill_leftovers(path: Path) -> None:
    """Kill the processes that a dead supervisor left, on systems whose kernel does not do so.

    Call it with the stack's lock held. A supervisor that lives without it is another home's, of which this one is a copy.
    """
    state = read_state(path)
    if state is not None and _find_process(state.pid, state.started) is None:
        for pid, created in state.processes.values():
            with contextlib.suppress(psutil.NoSuchProcess):
                if process := _find_process(pid, created):
                    process.kill()
                    process.wait(5)
    path.unlink(missing_ok=True)


def _find_process(pid: int, created: float) -> psutil.Process | None:
    """Return the process; None if it has ended, also where its number now belongs to another program."""
    try:
        process = psutil.Process(pid)
        same = abs(process.create_time() - created) < 1
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.NoSuchProcess:
        return None
