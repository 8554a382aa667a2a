"""Make the virtual environment `.venv` from `requirements.lock`: `python3 infra/environment.py`, or `make setup`.

It runs with any `python3` from 3.7 on, before anything is installed, so it imports only the standard library. It installs only
ready-made wheels, which need no compiler, and only files whose hashes the lock has. A second call does nothing, whichever
interpreter it comes from; with `--this-python`, an environment of another interpreter is made anew. The old environment is put
aside until the new one is complete, and comes back if that cannot be made.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from typing import IO

OLDEST = (3, 11)
NEEDED_MB = 2000
INSTALLERS = 2
ENVIRONMENT = ".venv"
ASIDE = ".venv.put-aside"
BUSY = ".venv.lock"
STAMP = os.path.join(ENVIRONMENT, ".stamp")
LOCK = "requirements.lock"
THIS_PYTHON = "--this-python"
CANDIDATES = ("python3.13", "python3.12", "python3.11")


class Refusal(Exception):
    """A reason why the environment cannot be made, and what to do about it."""


def main() -> None:
    """Make the environment, unless it is there already."""
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # an orderly end, as at Ctrl-C
    try:
        setup(insists=THIS_PYTHON in sys.argv[1:])
    except Refusal as refusal:
        sys.exit(f"make setup: {refusal}")
    except KeyboardInterrupt:
        sys.exit(130)


def setup(insists: bool = False) -> None:
    """Check the machine, make the environment, install. Without the stamp, written last, the next call starts again.

    An environment that is there stays, whatever interpreter it was made with, unless the caller `insists` on this one.
    """
    fingerprint = compute_fingerprint()
    wanted = [fingerprint, os.path.realpath(find_python())] if insists else [fingerprint]
    if is_made(wanted):
        return
    with take_turn():
        settle_what_was_cut_off()
        if not is_made(wanted):
            replace_environment(find_python(), fingerprint)


def is_made(wanted: list[str]) -> bool:
    """Return whether the environment is complete, and its stamp begins with these lines."""
    return not os.path.lexists(ASIDE) and read_or_empty(STAMP).splitlines()[: len(wanted)] == wanted and is_usable()


def take_turn() -> IO[str]:
    """Wait while another call makes the environment. Return the open file that holds the lock until it is closed."""
    try:
        busy = open(BUSY, "w")  # noqa: SIM115  the caller closes it
    except OSError as error:
        raise Refusal(f"nothing can be written here ({error.strerror}); clone elsewhere") from error
    try:
        fcntl.flock(busy, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"another make is making {ENVIRONMENT}; waiting for it", flush=True)
        fcntl.flock(busy, fcntl.LOCK_EX)
    return busy


def settle_what_was_cut_off() -> None:
    """Finish a call that was killed: with a stamp the new environment is complete, without one the old one comes back."""
    if os.path.exists(STAMP):
        remove(ASIDE)
    else:
        bring_back()


def replace_environment(python: str, fingerprint: str) -> None:
    """Put the old environment aside and make the new one. If that fails, the old one comes back."""
    need_space(NEEDED_MB)
    print(f"making {ENVIRONMENT} from {LOCK} (one to three minutes, once)", flush=True)
    # The interpreter of an activated environment is about to move; the one behind it stays.
    if os.path.realpath(os.path.dirname(python)) == os.path.realpath(os.path.join(ENVIRONMENT, "bin")):
        python = os.path.realpath(python)
    # There may be none, or it may be a mount, which cannot be renamed: `venv --clear` empties that.
    with contextlib.suppress(OSError):
        os.rename(ENVIRONMENT, ASIDE)
    try:
        make_environment(python)
        install_locked()
        with open(STAMP, "w") as file:
            file.write(f"{fingerprint}\n{os.path.realpath(python)}\n")
    except BaseException:
        bring_back()
        raise
    remove(ASIDE)


def bring_back() -> None:
    """Put the old environment back in its place, if one was put aside."""
    if os.path.lexists(ASIDE):
        remove(ENVIRONMENT)
        os.rename(ASIDE, ENVIRONMENT)
        print(f"{ENVIRONMENT} is as it was before", flush=True)


def remove(path: str) -> None:
    """Remove a folder, or a link without the folder that it leads to."""
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)
    except OSError as error:
        raise Refusal(f"{error.filename or path} cannot be removed: {error.strerror}; remove {path} and try again") from error


def is_usable() -> bool:
    """Return whether the environment's interpreter finds its packages. An upgrade of the system may have put another in place."""
    python = os.path.join(ENVIRONMENT, "bin", "python")
    try:
        return subprocess.call([python, "-I", "-c", "import pip"], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def find_python() -> str:
    """Return this interpreter, or a newer one on the path when this one is too old."""
    if sys.version_info[:2] >= OLDEST:
        return sys.executable
    for name in CANDIDATES:
        found = shutil.which(name)
        if found:
            return found
    here = f"{sys.version_info[0]}.{sys.version_info[1]} at {sys.executable}"
    raise Refusal(
        f"Python 3.11 or newer is needed, this is {here}. Install one (Debian, Ubuntu: apt-get install python3.11 "
        "python3.11-venv) or name it: make setup PYTHON=/path/to/python3.11"
    )


def compute_fingerprint() -> str:
    """Return a hash that changes when the folder, the lock, or what the project file says of the project changes."""
    digest = hashlib.sha256()
    for part in (os.getcwd(), read_or_empty(LOCK), leave_out_tools(read_or_empty("pyproject.toml"))):
        digest.update(part.encode("utf-8", "surrogateescape") + b"\0")
    return digest.hexdigest()


def leave_out_tools(project: str) -> str:
    """Return a project file without the tables of tools such as ruff: only setuptools' say what is installed."""
    tables = re.split(r"^(?=\[)", project, flags=re.MULTILINE)
    return "\n".join(table.strip() for table in tables if not re.match(r"\[+tool\.(?!setuptools)", table))


def read_or_empty(path: str) -> str:
    """Return a file's text, empty when there is no such file."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def need_space(megabytes: int) -> None:
    """Refuse a disk that cannot hold the environment."""
    free = shutil.disk_usage(".").free // 2**20
    if free < megabytes:
        raise Refusal(f"only {free} MB are free here, {megabytes} MB are needed; free some space or clone elsewhere")


def make_environment(python: str) -> None:
    """Make an empty virtual environment with pip."""
    if python == sys.executable and not all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")):
        raise Refusal(
            "this Python has no venv module (Debian, Ubuntu: apt-get install python{}.{}-venv)".format(*sys.version_info[:2])
        )
    made = subprocess.run([python, "-m", "venv", "--clear", ENVIRONMENT], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if made.returncode != 0:
        output = made.stdout.decode(errors="replace").strip()
        raise Refusal(f"the virtual environment cannot be made by {python}:\n{output}")


def install_locked() -> None:
    """Install all that the lock names, with several installers side by side, then the project itself as a link to this folder."""
    pinned = read_pinned(read_or_empty(LOCK))
    running = []
    for number in range(INSTALLERS):
        share = os.path.join(ENVIRONMENT, f"share-{number}.txt")
        with open(share, "w") as file:
            file.write("".join(pinned[number::INSTALLERS]))
        running.append(start_pip("install", "--no-deps", "--only-binary", ":all:", "--require-hashes", "--requirement", share))
    wait_for_all(running)
    wait_for_all([start_pip("install", "--no-deps", "--no-build-isolation", "--editable", ".")])


def read_pinned(lock: str) -> list[str]:
    """Return the lock's packages, each with the lines of its hashes."""
    pinned: list[str] = []
    for line in lock.splitlines(True):
        if line.startswith((" ", "\t")):
            pinned[-1] += line
        elif line.strip() and not line.startswith("#"):
            pinned.append(line)
    return pinned


def start_pip(*arguments: str) -> subprocess.Popen[bytes]:
    """Start pip in the new environment. It writes no byte code: most modules are never imported."""
    python = os.path.join(ENVIRONMENT, "bin", "python")
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    command = [python, "-m", "pip", *quiet, *arguments[:1], "--no-compile", *arguments[1:]]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def wait_for_all(processes: list[subprocess.Popen[bytes]]) -> None:
    """Wait for all processes; raise `Refusal` for the first that failed. At Ctrl-C end them: the old environment comes back."""
    try:
        outputs = [process.communicate()[0].decode(errors="replace") for process in processes]
    except KeyboardInterrupt:
        for process in processes:
            process.kill()
            process.wait()
        raise
    for number, process in enumerate(processes):
        if process.returncode != 0:
            raise Refusal(explain(outputs[number]))


def explain(output: str) -> str:
    """Say why pip failed and what to do. The network is checked first: without it, pip ends in "no matching distribution" too."""
    tail = "\n".join(output.strip().splitlines()[-12:])
    if "No space left" in output:
        return f"the disk is full; free {NEEDED_MB} MB and try again\n{tail}"
    if "connection" in output.lower() or "timed out" in output or "SSLError" in output:
        return f"the package registry cannot be reached; check the network and pip's settings (PIP_INDEX_URL)\n{tail}"
    if "THESE PACKAGES DO NOT MATCH THE HASHES" in output:
        return f"the package registry has a file with another content than the lock knows; do not install it\n{tail}"
    if "No matching distribution" in output:
        machine = f"{sys.platform}, Python {sys.version_info[0]}.{sys.version_info[1]}"
        return f"the package registry has no ready-made wheel of a package for this machine ({machine})\n{tail}"
    return f"pip failed:\n{tail}"


if __name__ == "__main__":
    main()
