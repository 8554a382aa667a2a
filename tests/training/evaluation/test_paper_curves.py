"""Curves of training runs: what is read from their logs, and what is said where nothing fits."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from app.domain.errors import InvalidInput, NotFound
from infra.cli.evaluation_tables import make_table
from training.recipes.run_folder import TrainingFolder


def write_log(folder: Path, rows: list[dict[str, Any]], torn: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + torn)
    return folder


def points_of(path: Path) -> dict[tuple[str, str], list[tuple[float, float]]]:
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    with path.open(newline="") as lines:
        for row in csv.DictReader(lines):
            found.setdefault((row["run"], row["curve"]), []).append((float(row["step"]), float(row["value"])))
    return found


def test_two_runs_are_drawn_over_their_steps(tmp_path: Path) -> None:
    done_again = {"step": 2, "reward": 9.0, "entropy": 9.0}
    flat = [done_again, *({"step": n, "reward": n / 10, "entropy": 1.0, "loss": float("nan")} for n in (2, 1))]
    one, other = write_log(tmp_path / "grpo", flat, torn='{"step": 3, "rew'), tmp_path / "x"
    other.mkdir()
    for step in (1, 2):
        TrainingFolder(other).keep_metrics(step, {"reward": 0.5, "reward_std": 0.1, "entropy": 2.0})
    assert make_table("qsr-fig-3", (), (str(one), f"gspo={other}"), (), tmp_path) == 0
    found = points_of(tmp_path / "qsr-fig-3.csv")
    assert found["grpo", "reward"] == [(1.0, 0.1), (2.0, 0.2)]
    assert found["gspo", "entropy"] == [(1.0, 2.0), (2.0, 2.0)]
    page = (tmp_path / "qsr-fig-3.html").read_text()
    assert page.count("<svg") == 2
    assert "<td>grpo</td><td>reward</td><td>2</td><td>0.1</td><td>0.2</td>" in page


def test_names_of_trainers_are_found_or_chosen_and_else_the_curve_says_so(tmp_path: Path) -> None:
    logged = {"rewards/orm/mean": 0.3, "rewards/orm/std": 0.1, "lambda_tool": 0.6, "rewards/coverage_of_names/mean": 0.2}
    run = write_log(tmp_path / "run", [{"step": 1, **logged}])
    make_table("mdr-fig-5", (), (f"a={run}",), ("prm=rewards/coverage_of_names/mean",), tmp_path)
    found = points_of(tmp_path / "mdr-fig-5.csv")
    assert found["a", "ORM: right answers"] == [(1.0, 0.3)]
    assert found["a", "PRM: entity coverage"] == [(1.0, 0.2)]
    assert found["a", "tool"] == [(1.0, 0.6)]
    told = (tmp_path / "mdr-fig-5.md").read_text()
    assert "empty: nothing is logged as part/form or form or format_step; there are rewards/orm/mean, rewards/orm/std" in told
    assert ("a", "steps in form") not in found
    make_table("mdr-fig-5", (), (), (), tmp_path)
    assert "No training run is given" in (tmp_path / "mdr-fig-5.html").read_text()


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"there is no metrics.jsonl"):
        make_table("qsr-fig-3", (), (f"a={tmp_path}",), (), tmp_path)
    broken = write_log(tmp_path / "broken", [{"reward": 1.0}])
    with pytest.raises(InvalidInput, match="row 1: it is no object with a step"):
        make_table("qsr-fig-3", (), (f"a={broken}",), (), tmp_path)
    run = write_log(tmp_path / "run", [{"step": 1, "reward": 1.0}])
    with pytest.raises(InvalidInput, match="there is no curve 'x'; there are reward, entropy"):
        make_table("qsr-fig-3", (), (f"a={run}",), ("x=reward",), tmp_path)
    with pytest.raises(InvalidInput, match="two training runs are labelled 'a'"):
        make_table("qsr-fig-3", (), (f"a={run}", f"a={run}"), (), tmp_path)
