"""`python -m training.loop.gate` and `python -m training.loop.power` over a folder: exit codes, files, output."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.training.loop.gate_folder import GOOD, PLAN, make_rows, write_folder

ROOT = Path(__file__).resolve().parents[3]


def run_module(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"training.loop.{module}", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("changes", "queries", "code", "verdict"),
    [(GOOD, 120, 0, "passed"), (GOOD | {"cost": 0.2}, 120, 3, "refused"), (GOOD, 12, 5, "not known")],
)
def test_a_gate_writes_its_decision(tmp_path: Path, changes: dict[str, float], queries: int, code: int, verdict: str) -> None:
    done = run_module("gate", str(write_folder(tmp_path, make_rows(changes, queries))))
    assert done.returncode == code, done.stderr
    kept = json.loads((tmp_path / "gate.json").read_text())
    assert kept["verdict"] == verdict
    assert len(kept["rows"]) == len(GOOD)
    page = (tmp_path / "gate.md").read_text()
    assert page == done.stdout
    assert page.startswith(f"# Gate: {verdict}\n")
    assert ("## Worst items: cost" in page) == (code == 3)


def test_the_page_shows_rows_worst_items_and_leaks(tmp_path: Path) -> None:
    rows = make_rows(GOOD | {"cost": 0.2})
    run_module("gate", str(write_folder(tmp_path, rows, trained=[{"id": "q3"}])))
    page = (tmp_path / "gate.md").read_text()
    assert "| cost | non-inferiority | 120 | 0.5000 | 0.7000 | +40.0% |" in page
    assert "| q119 | q119/0 | 0.5 | 0.73 | old-119-0 | new-119-0 |" in page
    assert "- `q3` is `q3` of the training set, likeness 1.0" in page


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"metric": "m", "query": "q", "item": "i", "before": 1}', "row 2"),
        ('{"metric": "m", "query": "q", "item": "i", "before": NaN, "after": 1}', "row 2"),
        ('{"metric": "report_quality", "query": "q0", "item": "q0/0", "before": 0, "after": 1}', "twice"),
    ],
)
def test_scores_that_cannot_be_used_are_named(tmp_path: Path, line: str, told: str) -> None:
    write_folder(tmp_path, make_rows({"report_quality": 0.1}, queries=1, items=1))
    with (tmp_path / "scores.jsonl").open("a") as file:
        file.write(line + "\n")
    done = run_module("gate", str(tmp_path))
    assert done.returncode == 2
    assert told in done.stderr
    assert not (tmp_path / "gate.json").exists()


def test_equal_judges_are_refused(tmp_path: Path) -> None:
    done = run_module("gate", str(write_folder(tmp_path, make_rows(GOOD), PLAN.replace("another", "one"))))
    assert done.returncode == 2
    assert "three different" in done.stderr


def test_power_of_a_folder(tmp_path: Path) -> None:
    done = run_module("power", str(write_folder(tmp_path, make_rows(GOOD, 40))), "--candidates", "40")
    assert done.returncode == 0, done.stderr
    first, second, *others = done.stdout.splitlines()
    assert first.endswith("promoted with a gain of 0.05 in report_quality (planned: 80% or more)")
    assert float(first.partition("%")[0]) > 80
    assert float(second.partition("%")[0]) < 20
    assert "report_quality: 40 queries, 20 needed" in others


def test_power_without_scores_asks_for_n() -> None:
    assert run_module("power").returncode == 2
    done = run_module("power", "--n", "20", "--spread", "0.02", "--gain", "0.03", "--candidates", "10")
    assert done.returncode == 0, done.stderr
    assert "quality: 20 queries, 20 needed" in done.stdout


def test_a_gate_needs_no_torch() -> None:
    code = "import sys, training.loop.gate, training.loop.power; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
