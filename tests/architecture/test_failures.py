"""A failing test is always shown by its name."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# As a task does whose exception nobody took: the garbage collector ends it, its traceback is logged, and that parses.
FAILING = """
import ast
import gc

gc.set_threshold(50)


class Parsing:
    def __init__(self):
        self.itself = self

    def __del__(self):
        (lambda: ast.parse("(a + b)"))()


def test_that_fails():
    kept = [Parsing() for _ in range(10_000)]
    del kept[::2]
    assert not kept
""" + "\n\n".join(f"def other_{n}():\n    return [{n} + each for each in range({n})]" for n in range(2_000))


def test_a_failure_is_shown_while_finalisers_parse(tmp_path: Path) -> None:
    (tmp_path / "test_planted.py").write_text(FAILING)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        ROOT / "pyproject.toml",
        "--rootdir",
        tmp_path,
        "-p",
        "no:cacheprovider",
        tmp_path,
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "test_that_fails - assert not [" in done.stdout
    assert "INTERNALERROR" not in done.stdout + done.stderr
