"""Which files of a project count as used by a command is recorded in all its processes."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.recording.record import record_files

MAIN = """
import subprocess, sys, threading
import idle, nouns, used
used.read_words()
thread = threading.Thread(target=used.start_thread)
thread.start()
thread.join()
# As the product starts its parsers: with few variables, and children that may write no files and end by a signal.
done = subprocess.run([sys.executable, "-m", "child"], env={"PYTHONPATH": sys.path[0]})
assert done.returncode == -9, done
"""
FILES = {
    "main.py": MAIN,
    "used.py": """
def read_words():
    return open("words.toml").read(), open("unknown.toml").read(), open("written.toml", "w").write("")

def start_thread():
    import in_thread
    in_thread.work()
""",
    "in_thread.py": "def work(): pass",
    "idle.py": "NAMES = [name for name in 'ab']\nclass Idle:\n    def wait(self): pass",
    "nouns.py": "LIMIT = 3\nclass Noun:\n    size: int",
    "child.py": """
import os, resource, signal
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
import in_child
in_child.work()
os.kill(os.getpid(), signal.SIGKILL)
""",
    "in_child.py": "def work(): pass",
    "words.toml": "",
    "written.toml": "",
    "never.toml": "",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "-C", str(tmp_path), "init", "--quiet"], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "add", "."], check=True)
    (tmp_path / "unknown.toml").write_text("")
    return tmp_path


def test_files_count_whose_functions_ran_in_any_process_and_thread_and_data_that_were_read(project: Path) -> None:
    found = record_files([sys.executable, "-m", "main"], project)
    assert found == ["child.py", "in_child.py", "in_thread.py", "main.py", "nouns.py", "used.py", "words.toml"]


LEFT = """
import pathlib, time, used
while not pathlib.Path("go").exists():
    time.sleep(0.01)
used.read_words()
pathlib.Path("done").touch()
"""


def test_a_process_that_outlives_the_recording_goes_on(project: Path) -> None:
    (project / "main.py").write_text(
        f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {LEFT!r}])\ndef wait(): pass\nwait()"
    )
    assert record_files([sys.executable, "-m", "main"], project) == ["main.py"]
    (project / "go").touch()
    while not (project / "done").exists():
        time.sleep(0.01)


def test_a_command_that_fails_records_nothing(project: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        record_files([sys.executable, "-c", "raise SystemExit(3)"], project)
