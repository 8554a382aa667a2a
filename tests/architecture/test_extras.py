"""On a machine without extras every test module is imported, and tests that need an extra say so by their mark."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def collect(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Collect tests as an environment without extras does, with a folder's own packages."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "tests.support.without_extras",
        *arguments,
        str(folder),
    ]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.extra("trl")
def test_every_module_is_imported_without_extras() -> None:
    done = collect(ROOT / "tests")
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr


def test_a_module_that_needs_an_extra_when_it_is_imported_is_reported(tmp_path: Path) -> None:
    (tmp_path / "test_planted.py").write_text("import planted\n\n\ndef test_planted() -> None:\n    assert planted\n")
    (tmp_path / "planted.py").write_text("")
    arguments = ("--rootdir", str(tmp_path), "-c", str(ROOT / "pyproject.toml"))
    assert collect(tmp_path, *arguments).returncode == 0, "a module of nobody's is no extra"
    described = tmp_path / "planted-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Name: planted\nVersion: 1.0\n")
    (described / "top_level.txt").write_text("planted\n")
    done = collect(tmp_path, *arguments)
    assert done.returncode != 0
    assert "No module named 'planted'" in done.stdout


def list_unmarked_skips(text: str) -> Iterator[int]:
    """Lines that skip for want of a package, other than at the head of a module whose tests are all marked with an extra."""
    module = ast.parse(text)
    marked = any(
        isinstance(node, ast.Assign) and "pytestmark" in ast.unparse(node.targets[0]) and "mark.extra(" in ast.unparse(node.value)
        for node in module.body
    )
    heads = [node.value for node in module.body if isinstance(node, ast.Expr)] if marked else []
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("importorskip") and node not in heads:
            yield node.lineno


def test_whoever_skips_for_want_of_a_package_is_marked() -> None:
    """`make test-extras` runs the marked ones alone."""
    found = {path.name: list(list_unmarked_skips(path.read_text())) for path in (ROOT / "tests").rglob("*.py")}
    assert not {name: lines for name, lines in found.items() if lines}


def test_an_unmarked_skip_is_noticed() -> None:
    head = 'import pytest\npytest.importorskip("trl")\n'
    assert list(list_unmarked_skips(head)) == [2]
    assert not list(list_unmarked_skips(head + 'pytestmark = pytest.mark.extra("trl")\n'))
    assert list(list_unmarked_skips('pytestmark = pytest.mark.extra("trl")\ndef f():\n    importorskip("trl")\n')) == [3]
