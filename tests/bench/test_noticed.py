"""Figures are taken anew one bench after the other, kept with the files that were used, and told in the table."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.noticed import NOTICED
from bench.table import BEGIN, END, read_limits

ROOT = Path(__file__).parents[2]
SPEED = """
import json, sys
from bench import engine
engine.work(sys.argv[1:])
print(json.dumps({"bench": "speed", "figures": {"p50_ms": 3}, "machine": "", "commit": engine.read_commit()}))
"""
ENGINE = """
import subprocess

def read_commit():
    return subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()

def work(arguments):
    with open("arguments", "a") as log:
        log.write(" ".join(arguments) + ";")
"""
LIMITS = """
[broken.figures]
p50_ms = ""
[skipped.figures]
p50_ms = ""
[speed]
arguments = "--rounds 9"
recorded = "--rounds 1"
[speed.figures]
p50_ms = "< 15"
"""
FILES = {
    "__init__.py": "",
    "speed.py": SPEED,
    "engine.py": ENGINE,
    "broken.py": "raise SystemExit(3)",
    "skipped.py": """print('{"bench": "skipped", "figures": {}, "skipped": "no data"}')""",
    "limits.toml": LIMITS,
    "README.md": f"{BEGIN}\n{END}\n",
    "results/broken.json": '{"bench": "broken", "figures": {"p50_ms": 8}, "commit": "unknown"}',
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "bench" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "begin"]):
        subprocess.run(["git", "-C", str(tmp_path), *identity, *words], check=True)
    return tmp_path


def run_noticed(root: Path, *names: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench.noticed", "--root", str(root), *names]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_the_others_go_on_when_a_bench_fails(checkout: Path) -> None:
    done = run_noticed(checkout, "broken", "skipped", "speed")
    results = checkout / "bench" / "results"
    assert done.returncode == 1
    assert done.stderr.splitlines()[-2:] == ["broken failed: exit status 3", "skipped failed: no figures: no data"]
    assert json.loads((results / "broken.json").read_text())["figures"] == {"p50_ms": 8}
    assert not (results / "skipped.json").exists()
    assert json.loads((results / "speed.json").read_text())["figures"] == {"p50_ms": 3}
    readme = (checkout / "bench" / "README.md").read_text()
    assert "| `python -m bench.speed --rounds 9` | p50_ms | 3 | < 15 | met; 0 commits since |" in readme
    assert "| `python -m bench.broken` | p50_ms | 8 |  | commit unknown |" in readme


def test_a_bench_runs_once_timed_and_once_recorded(checkout: Path) -> None:
    assert run_noticed(checkout, "speed").returncode == 0
    assert (checkout / "arguments").read_text() == "--rounds 9;--rounds 1;"
    files = (checkout / "bench" / "results" / "speed.files.txt").read_text().splitlines()
    assert files == ["bench/__init__.py", "bench/engine.py", "bench/speed.py"]


def test_a_name_that_is_not_in_the_table_is_refused(checkout: Path) -> None:
    done = run_noticed(checkout, "sped")
    assert done.returncode == 2
    assert "not in limits.toml: sped" in done.stderr


def test_what_a_user_notices_is_in_the_table() -> None:
    assert set(NOTICED) <= read_limits(ROOT / "bench" / "limits.toml").keys()
