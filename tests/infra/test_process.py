"""Child processes end with their parent, tell why they could not start, and leave nobody behind."""

import asyncio
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from app.domain.errors import SetupError
from infra.local import gate
from infra.local.ports import LOOPBACK, find_free_port
from infra.local.process import Process, Program
from infra.local.service import Endpoint, LocalService, gated_command, get_http_status
from infra.local.supervision import keep_running, stop_together
from tests.support.patience import PATIENCE_S

SECOND = timedelta(seconds=1)


async def never() -> bool:
    return False


def python(code: str, log: Path, **options: object) -> Program:
    return Program("helper", [sys.executable, "-c", code], log, **options)  # type: ignore[arg-type]


def wait_until(condition: object) -> None:
    while not condition():  # type: ignore[operator]
        time.sleep(0.02)


async def test_a_program_that_ends_while_starting_is_told_with_its_last_words(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("words of an earlier process\n")
    process = Process(python("raise SystemExit('the reason')", log))
    with pytest.raises(SetupError, match="helper ended with code 1 while starting") as failure:
        await process.wait_until_ready(never, PATIENCE_S * SECOND)
    assert "the reason" in str(failure.value)
    assert "earlier" not in str(failure.value)


async def test_a_program_that_is_never_ready_is_told(tmp_path: Path) -> None:
    process = Process(python("import time; time.sleep(60)", tmp_path / "log"))
    with pytest.raises(SetupError, match="was not ready after 0 s"):
        await process.wait_until_ready(never, SECOND / 10)
    process.stop()
    assert process.exit_code == -signal.SIGTERM


def test_a_program_that_cannot_be_executed_is_told(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="helper cannot be started"):
        Process(Program("helper", [str(tmp_path / "absent")], tmp_path / "log"))


def test_stopping_ends_the_whole_group_of_a_program_that_does_not_listen(tmp_path: Path) -> None:
    code = (
        "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).pid, flush=True); time.sleep(60)"
    )
    process = Process(python(code, tmp_path / "log", patience=SECOND / 5))
    wait_until(lambda: process.read_log_tail().strip())
    grandchild = int(process.read_log_tail())
    process.stop()
    assert process.exit_code == -signal.SIGKILL
    wait_until(lambda: not _runs(grandchild))


@pytest.mark.skipif(sys.platform != "linux", reason="a promise of Linux's kernel")
def test_children_end_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    code = f"""
import time
from pathlib import Path
from infra.local.ports import LOOPBACK, find_free_port
from infra.local.process import Process, Program
child = Process(Program("c", ["sleep", "60"], Path({str(tmp_path / "log")!r})))
print(child.pid, flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert _runs(child)
        parent.kill()
    wait_until(lambda: not _runs(child))


async def test_a_service_waits_at_its_gate_and_is_started_again_when_it_dies(tmp_path: Path) -> None:
    module = tmp_path / "sample_service.py"
    module.write_text(
        "import os, pathlib, time\npathlib.Path(os.environ['SEEN']).touch()\n"
        "def main():\n    print('service', 'ready', os.environ['WHO'], flush=True)\n    time.sleep(60)\n"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    environment = {**os.environ, "PYTHONPATH": path, "WHO": "me", "SEEN": str(tmp_path / "seen")}
    service = LocalService("sample", gated_command("sample_service"), tmp_path / "log", environment, ready_words="ready")
    service.spawn()
    while not (tmp_path / "seen").exists():
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.3)  # it is imported; without a gate it would be ready now
    assert service.process is not None
    assert service.process.read_log_tail() == ""
    await service.start()
    first = service.process
    assert first.read_log_tail() == "service ready me"
    said: list[str] = []
    again = asyncio.Event()
    watching = asyncio.create_task(keep_running(service, said.append, again.set))
    os.kill(first.pid, signal.SIGKILL)
    await again.wait()
    watching.cancel()
    assert service.process.pid != first.pid
    assert service.process.alive
    assert "sample ended (signal 9)" in said[0]
    stop_together([service])
    assert not service.process.alive


async def test_another_program_at_the_port_is_not_taken_for_the_service(tmp_path: Path) -> None:
    port = find_free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", LOOPBACK]
    endpoint = Endpoint(f"http://{LOOPBACK}:{port}", "/")
    other = LocalService("other", command, tmp_path / "other.log", {}, endpoint, gated=False)
    await other.start()
    service = LocalService("sample", command, tmp_path / "log", {}, endpoint, gated=False)
    with pytest.raises(SetupError, match="Address already in use"):
        await service.start()
    assert await other.responds()
    stop_together([service, other])


async def test_a_service_that_falls_silent_is_started_again(tmp_path: Path) -> None:
    port = find_free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", LOOPBACK]
    endpoint = Endpoint(f"http://{LOOPBACK}:{port}", "/")
    service = LocalService("sample", command, tmp_path / "log", {}, endpoint, folder=tmp_path / "needed", gated=False)
    service.silence, service.patience = 5 * SECOND, 2 * SECOND
    await service.start()
    assert service.process is not None
    first = service.process.pid
    said: list[str] = []
    again = asyncio.Event()
    watching = asyncio.create_task(keep_running(service, said.append, again.set, check_every=SECOND / 20))
    while service.process.read_log_tail().count("GET / ") < 5:
        await asyncio.sleep(0.02)
    assert said == []
    # Something clears the folder, and the process hangs: its port still accepts, but nobody answers.
    (tmp_path / "needed").rmdir()
    os.kill(first, signal.SIGSTOP)
    await again.wait()
    watching.cancel()
    assert said == ["sample does not respond any more; starting it again"]
    assert service.process.pid != first
    assert (tmp_path / "needed").is_dir()
    assert await service.responds()
    service.stop()


FULL = """
import asyncio, socket, sys

full = socket.create_server(("127.0.0.1", int(sys.argv[2])), backlog=0)
others = [socket.socket() for _ in range(8)]
for other in others:
    other.setblocking(False)
    other.connect_ex(full.getsockname())

async def answer(reader, writer):
    await reader.readline()
    writer.write(b"HTTP/1.1 200 OK\\r\\n\\r\\n")
    writer.close()
    print("asked", flush=True)

async def main():
    async with await asyncio.start_unix_server(answer, sys.argv[1]):
        print("ready", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_service_that_is_only_full_is_left_alone(tmp_path: Path) -> None:
    """Clients have taken every connection of its port; at a socket of its own it says that it lives."""
    port, pulse = find_free_port(), tmp_path / "pulse"
    command = [sys.executable, "-c", FULL, str(pulse), str(port)]
    service = LocalService("sample", command, tmp_path / "log", os.environ, ready_words="ready", gated=False)
    await service.start()
    service.endpoint, service.pulse = Endpoint(f"http://{LOOPBACK}:{port}"), Endpoint(f"unix:{pulse}")
    assert await get_http_status(service.endpoint.address, "/", SECOND / 10) is None
    service.silence = PATIENCE_S * SECOND
    said: list[str] = []
    watching = asyncio.create_task(keep_running(service, said.append, lambda: None, check_every=SECOND / 50))
    assert service.process is not None
    while service.process.read_log_tail(100).count("asked") < 8:
        await asyncio.sleep(0.02)
    watching.cancel()
    assert said == []
    service.stop()


async def test_a_service_is_started_again_after_errors_of_every_kind(tmp_path: Path) -> None:
    """As on a full disk: its folder cannot be made, nothing can be said, and its start cannot be noted."""
    command, folder = [sys.executable, "-c", "import time; print('ready', flush=True); time.sleep(60)"], tmp_path / "needed"
    service = LocalService("sample", command, tmp_path / "log", os.environ, ready_words="ready", folder=folder, gated=False)
    await service.start()
    assert service.process is not None
    said: list[str] = []
    full, noted = True, asyncio.Event()

    def say(line: str) -> None:
        said.append(line)
        if full:
            raise OSError(errno.ENOSPC, "No space left on device")

    def note() -> None:
        noted.set()
        if full:
            raise OSError(errno.ENOSPC, "No space left on device")

    watching = asyncio.create_task(keep_running(service, say, note))
    folder.rmdir()
    folder.write_text("in the way")
    os.kill(service.process.pid, signal.SIGKILL)
    while len(said) < 3:
        await asyncio.sleep(0.02)
    assert said[1].startswith("sample cannot be started: FileExistsError: ")
    assert "trying again in" in said[2]
    folder.unlink()
    await noted.wait()
    full = False
    noted.clear()
    second = service.process
    os.kill(second.pid, signal.SIGKILL)
    await noted.wait()
    watching.cancel()
    assert "sample runs again, but this cannot be noted: OSError: [Errno 28] No space left on device" in said
    assert service.process.pid != second.pid
    assert service.process.alive
    service.stop()


def test_the_gate_does_not_open_for_a_supervisor_that_is_gone(tmp_path: Path) -> None:
    command: Sequence[str] = [sys.executable, "-m", gate.__name__, "json"]
    finished = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert finished.returncode == 1
    assert "the supervisor ended" in finished.stderr


def _runs(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
