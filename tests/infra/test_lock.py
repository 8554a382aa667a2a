"""One stack a home, whatever became of the last one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.domain.errors import SetupError
from infra.local.lock import FileLock, StackState, kill_leftovers, read_start_time, read_state


def test_a_lock_has_one_holder_and_dies_with_it(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    code = (
        "from pathlib import Path; from infra.local.lock import FileLock;"
        f"lock = FileLock(Path({str(lock)!r})); print(lock.acquire(), flush=True); input()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        assert not FileLock(lock).acquire()
        assert FileLock(lock).is_held_by_another()
        holder.send_signal(signal.SIGKILL)
    mine = FileLock(lock)
    assert mine.acquire()
    assert not mine.is_held_by_another()
    mine.release()


def test_a_home_that_cannot_be_made_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SetupError, match=r"cannot be made.*set RUBRICA_HOME"):
        FileLock(tmp_path / "file" / "home" / "lock").is_held_by_another()


def test_users_share_a_lock_and_keep_it_from_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "users"
    first, second = FileLock(path), FileLock(path)
    assert first.acquire(shared=True)
    assert second.acquire(shared=True)
    assert FileLock(path).is_held_by_another()
    first.release()
    second.release()
    assert not FileLock(path).is_held_by_another()


def test_the_state_file_survives_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "stack.json"
    state = StackState(pid=1, api="http://x", processes={"api": (2, 3.5)})
    state.write(path)
    found = read_state(path)
    assert found is not None
    assert found.api == "http://x"
    assert tuple(found.processes["api"]) == (2, 3.5)
    path.write_text('{"pid": 1')
    assert read_state(path) is None


def test_leftovers_are_ended_and_other_programs_are_not(tmp_path: Path) -> None:
    sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(sleeper) as leftover, subprocess.Popen(sleeper) as innocent:
        path = tmp_path / "stack.json"
        processes = {
            "api": (leftover.pid, read_start_time(leftover.pid)),
            # The number of a process that is gone, taken since by another program.
            "worker": (innocent.pid, read_start_time(innocent.pid) - 1_000),
            "ui": (_unused_pid(), time.time()),
        }
        StackState(pid=1, api="", processes=processes).write(path)
        kill_leftovers(path)
        leftover.wait()
        assert innocent.poll() is None
        assert not path.exists()
        innocent.kill()


def test_the_processes_of_a_home_that_was_copied_while_it_ran_live_on(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as service:
        path = tmp_path / "copy" / "stack.json"
        path.parent.mkdir()
        processes = {"api": (service.pid, read_start_time(service.pid))}
        supervisor = os.getpid()
        StackState(supervisor, api="", started=read_start_time(supervisor), processes=processes).write(path)
        kill_leftovers(path)
        assert service.poll() is None
        assert not path.exists()
        service.kill()


def _unused_pid() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    assert gone.pid != os.getpid()
    return gone.pid
