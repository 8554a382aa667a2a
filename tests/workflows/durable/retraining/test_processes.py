"""Processes of this machine: who is asked to stop."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from infra.local.lock import FileLock
from workflows.durable.retraining import keeper
from workflows.durable.retraining.processes import LocalProcesses


async def test_a_kept_process_is_asked_to_stop(tmp_path: Path) -> None:
    processes = LocalProcesses()
    await processes.start(tmp_path, ["sleep", "600"], {})
    # Asked before it keeps anything, a keeper ends by the signal, and its folder tells no code.
    while not (tmp_path / keeper.OUTPUT).exists():
        await asyncio.sleep(0.05)
    await processes.stop(tmp_path)
    while (look := await processes.look(tmp_path)).alive:
        await asyncio.sleep(0.05)
    assert look.code == -signal.SIGTERM


ECHO = "import sys\nsys.stdout.write(sys.stdin.read())"


@pytest.mark.parametrize("arguments", [["-c", ECHO], ["{keeper}", "{other}", "--", "sleep", "600"]])
async def test_another_process_that_has_the_number_of_a_killed_keeper_is_left_alone(tmp_path: Path, arguments: list[str]) -> None:
    script = tmp_path / "elsewhere" / Path(keeper.__file__).name
    script.parent.mkdir()
    script.write_text(ECHO)
    command = [sys.executable, *(each.format(keeper=script, other=tmp_path / "other") for each in arguments)]
    stranger = await asyncio.create_subprocess_exec(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    (tmp_path / keeper.LOCK).write_text(str(stranger.pid))
    lock = FileLock(tmp_path / keeper.LOCK)
    assert lock.acquire()  # as a process has it whose keeper was killed
    await LocalProcesses().stop(tmp_path)
    lock.release()
    said, _ = await stranger.communicate(b"still here")
    assert said == b"still here"


async def test_two_who_look_at_once_do_not_take_each_other_for_a_keeper(tmp_path: Path) -> None:
    (tmp_path / keeper.LOCK).touch()
    lock = FileLock(tmp_path / keeper.LOCK)
    assert lock.acquire(shared=True)
    assert not (await LocalProcesses().look(tmp_path)).alive
    lock.release()
