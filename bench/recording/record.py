"""Runs a command once more, slowly, and lists the files of the project that all its Python processes use."""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HOOK = Path(__file__).resolve().parent


def record_files(command: Sequence[str], root: Path) -> list[str]:
    """Run a command in the checkout `root`; return the tracked files that it uses, sorted. What counts: see `sitecustomize.py`.

    Raises:
        subprocess.CalledProcessError: the command fails.
    """
    with tempfile.TemporaryDirectory(prefix="rubrica-recording-") as folder, ThreadPoolExecutor(1) as pool:
        pipe = Path(folder) / "files"
        os.mkfifo(pipe)
        telling = pool.submit(pipe.read_text)
        with pipe.open("w"):  # the reader's end of file comes when this is closed, and not between two processes
            subprocess.run(command, cwd=root, env=_make_environment(pipe, root), check=True)
        told = telling.result().splitlines()
    return sorted(set(told) & _list_tracked(root))


def _make_environment(pipe: Path, root: Path) -> dict[str, str]:
    paths = [str(HOOK), *filter(None, [os.environ.get("PYTHONPATH")])]
    recording = {"BENCH_RECORDING_PIPE": str(pipe), "BENCH_RECORDING_ROOT": str(root.resolve())}
    return {**os.environ, **recording, "PYTHONPATH": os.pathsep.join(paths)}


def _list_tracked(root: Path) -> set[str]:
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], check=True, capture_output=True, text=True)
    return set(listed.stdout.split("\0"))
