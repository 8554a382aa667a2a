"""The processes of steps: a small port (start, look, stop), and processes of this machine behind it."""

import asyncio
import fcntl
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import orjson
import psutil

from app.domain.errors import SetupError
from workflows.durable.retraining import keeper

# Only a snapshot reads the database: what trains on readers' words needs no way to the rest of them.
DATABASE_SETTINGS = ("RUBRICA_DATABASE_URL", "RUBRICA_WORKER_DATABASE_URL", "RUBRICA_DATABASE_OWNER_URL")


@dataclass(frozen=True, slots=True)
class ProcessLook:
    """The state of a folder's process. `code` is the exit code of one that has ended; both empty: none was started."""

    alive: bool
    code: int | None = None


class StepProcesses(Protocol):
    """The port by which steps are run: on this machine, or by a scheduler of jobs."""

    async def start(self, folder: Path, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start a process that works in a folder; one that works there already stays the only one."""
        ...

    async def look(self, folder: Path) -> ProcessLook:
        """Return the state of the folder's process, and note that it is watched."""
        ...

    async def stop(self, folder: Path) -> None:
        """Ask the folder's process to stop; it may save what it has first."""
        ...


class LocalProcesses:
    """Processes of this machine. Each outlives the worker that started it, and any worker that sees its folder finds it."""

    async def start(self, folder: Path, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start the keeper of a process, and wait until it has the folder.

        Raises:
            SetupError: it cannot work there.
        """
        (folder / keeper.WATCHED).touch()
        (folder / keeper.EXIT).unlink(missing_ok=True)
        kept = await asyncio.create_subprocess_exec(
            sys.executable,
            keeper.__file__,
            _name_of(folder),
            "--",
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            env=dict(environment),
        )
        while not (look := await self.look(folder)).alive and look.code is None:
            if kept.returncode not in (None, 0, keeper.ALREADY_KEPT):
                raise SetupError(f"no process could be started in {folder}; see that its disk can be written")
            await asyncio.sleep(keeper.LOOK_EVERY)

    async def look(self, folder: Path) -> ProcessLook:
        """Return whether somebody holds the folder's lock, else the exit code that was left."""
        (folder / keeper.WATCHED).touch()
        if _is_kept(folder / keeper.LOCK):
            return ProcessLook(alive=True)
        return ProcessLook(alive=False, code=read_exit_code(folder))

    async def stop(self, folder: Path) -> None:
        """Signal the keeper. Where it was killed, its process has been asked to stop already."""
        if _is_kept(folder / keeper.LOCK) and (kept := _find_keeper(folder)) is not None:
            kept.terminate()


def read_exit_code(folder: Path) -> int | None:
    """Return the exit code that a keeper left; None: it left none, as where it was killed."""
    try:
        return int(orjson.loads((folder / keeper.EXIT).read_bytes())["code"])
    except FileNotFoundError:
        return None


def _find_keeper(folder: Path) -> psutil.Process | None:
    """Return the keeper of a folder. None: it was killed, also where another process has its number by now."""
    try:
        process = psutil.Process(int((folder / keeper.LOCK).read_text()))
        _, script, kept, *_ = process.cmdline()
    except (ValueError, psutil.Error):
        return None
    return process if (Path(script).name, kept) == (Path(keeper.__file__).name, _name_of(folder)) else None


def _name_of(folder: Path) -> str:
    return str(folder.resolve())


def _is_kept(lock: Path) -> bool:
    """Say whether a keeper or its process holds the lock. Others who look at the same moment do not count."""
    try:
        with open(lock) as held:
            fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
