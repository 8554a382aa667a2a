"""Keep one process that works in a folder: `python keeper.py FOLDER -- COMMAND...`. The standard library alone.

The keeper outlives whoever started it. Whoever watches touches `watched`; a process that nobody watches is asked to stop, so that
a trainer does not go on for a deployment that is gone. What a watcher finds:

keeper.lock   locked while the keeper or its process lives; holds the keeper's process id
output.log    what the process printed       exit.json   its exit code, once it has ended (negative: the signal that killed it)
"""

import ctypes
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

LOCK, OUTPUT, EXIT, WATCHED = "keeper.lock", "output.log", "exit.json", "watched"
LOOK_EVERY = 0.2
TRIES = 10
# A worker that is exchanged is away for seconds; one of another machine finds the folder within a heartbeat's limit.
UNWATCHED_SECONDS = 600.0
# A trainer ends its step and saves a checkpoint.
GRACE_SECONDS = 900.0
PR_SET_PDEATHSIG = 1
ALREADY_KEPT = 3


def main(folder: Path, command: list[str]) -> int:
    """Run the command in its own process group until it ends. Return 3 where the folder is kept already."""
    with open(folder / LOCK, "a+") as lock:
        if not _take(lock.fileno()):
            return ALREADY_KEPT
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        (folder / EXIT).unlink(missing_ok=True)
        code = _run(folder, command, lock.fileno())
        _replace(folder / EXIT, json.dumps({"code": code, "at": time.time()}))
    return 0


def _take(lock: int) -> bool:
    """Lock the folder. A watcher that looks at this moment has it for an instant."""
    for _ in range(TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(LOOK_EVERY)
        else:
            return True
    return False


def _run(folder: Path, command: list[str], lock: int) -> int:
    """Run the command; it holds the lock too, so that a folder whose keeper was killed stays taken until its process ends."""
    stopping: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: stopping.append(received))
    with open(folder / OUTPUT, "ab") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(lock,),
            preexec_fn=_end_with_keeper,
        )
        while process.poll() is None:
            if stopping or _is_unwatched(folder):
                return _stop(process)
            time.sleep(LOOK_EVERY)
    return process.returncode


def _stop(process: "subprocess.Popen[bytes]") -> int:
    """Ask the process to stop, and kill its whole group where it does not."""
    process.terminate()
    try:
        return process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def _is_unwatched(folder: Path) -> bool:
    return time.time() - (folder / WATCHED).stat().st_mtime > UNWATCHED_SECONDS


def _end_with_keeper() -> None:
    """Have the kernel ask the process to stop when its keeper is killed (Linux; elsewhere it goes on to its end)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _replace(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all."""
    new = path.with_suffix(".new")
    new.write_text(text)
    os.replace(new, path)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[3:]))
