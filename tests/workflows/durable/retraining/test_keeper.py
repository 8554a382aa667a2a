"""The keeper of a step's process: what it leaves, and that nothing goes on which nobody watches."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from workflows.durable.retraining import keeper


def keep(folder: Path, *command: str) -> "subprocess.Popen[bytes]":
    (folder / keeper.WATCHED).touch(exist_ok=True)
    return subprocess.Popen([sys.executable, keeper.__file__, str(folder), "--", *command])


def read_code(folder: Path) -> int:
    return int(json.loads((folder / keeper.EXIT).read_text())["code"])


def test_it_leaves_the_exit_code_and_what_was_printed(tmp_path: Path) -> None:
    assert keep(tmp_path, "sh", "-c", "echo so; exit 7").wait() == 0
    assert read_code(tmp_path) == 7
    assert (tmp_path / keeper.OUTPUT).read_text() == "so\n"


def test_a_process_that_nobody_watches_is_asked_to_stop(tmp_path: Path) -> None:
    (tmp_path / keeper.WATCHED).touch()
    long_ago = time.time() - 2 * keeper.UNWATCHED_SECONDS
    os.utime(tmp_path / keeper.WATCHED, (long_ago, long_ago))
    kept = subprocess.Popen([sys.executable, keeper.__file__, str(tmp_path), "--", "sleep", "600"])
    assert kept.wait() == 0
    assert read_code(tmp_path) == -15


def test_a_folder_has_one_process(tmp_path: Path) -> None:
    first = keep(tmp_path, "sleep", "600")
    while not (tmp_path / keeper.LOCK).exists() or not (tmp_path / keeper.LOCK).read_text():
        time.sleep(0.05)
    assert keep(tmp_path, "true").wait() == keeper.ALREADY_KEPT
    first.terminate()
    assert first.wait() == 0
