"""Search-RL at toy size, through the command: it searches a tape, trains, and goes on where it was cut off."""

from pathlib import Path

import pytest

pytest.importorskip("trl", reason="training needs what `make setup-train` installs")

from tests.support.stack import run_rubrica
from tests.training.recipes.toy_runs import OFFLINE, cut_off, read_curves, write_toy
from training.evaluation.paper_tables.curves import find_logged, read_training_logs
from training.evaluation.paper_tables.description import load_table
from training.recipes.run_folder import TrainingFolder
from training.recipes.search_rl.schedule import LOGGED_PART, TOOL_RATE
from training.recipes.starting import train as go_on

pytestmark = pytest.mark.extra("trl")

WEIGHTS = "adapter_model.safetensors"
FIG_5 = {
    "orm": "part/outcome",
    "prm": "part/process",
    "tool": "part/tool_success",
    "format": "part/form",
    "lambda-tool": "weight/tool",
    "lambda-format": "weight/format",
    "lambda-prm": "weight/process",
    "lambda-orm": "weight/outcome",
    "reward": "reward",
}
"""Where MDR Fig. 5 finds its curves in a run's log."""


def test_a_search_agent_is_trained_on_a_tape_and_goes_on(tmp_path: Path) -> None:
    config = write_toy(
        tmp_path,
        "search_rl",
        tools={"tape": "graph-queries/tape.jsonl"},
        optimizer={"epochs": 0.3},
        validation={"eval_every": 2, "tasks": 2},
        run={"save_every": 1, "keep": 9},
    )
    done = run_rubrica(
        tmp_path / "home", "train", "search_rl", "--config", str(config), "--out", str(tmp_path / "run"), **OFFLINE
    )
    assert done.returncode == 0, done.stderr
    assert "easy tasks" in done.stderr
    whole = TrainingFolder(tmp_path / "run")
    logged = [values for _, values in read_curves(whole)]
    assert {"part/tool", "part/format", "part/process", "part/outcome", "part/form"} <= {name for each in logged for name in each}
    assert sum("validation" in each for each in logged) == 3
    assert [values["weight/tool"] for step, values in read_curves(whole) if step == 0 and "weight/tool" in values] == [0.6]
    # A random model calls nothing, so that the rate of calls that succeed is not logged here.
    named = dict(read_training_logs([str(whole.path)])[0].values) | {LOGGED_PART + TOOL_RATE: []}
    curves = [curve for panel in load_table("mdr-fig-5").panels for curve in panel.curves]
    assert {curve.id: find_logged(curve, named) for curve in curves} == FIG_5
    assert (whole.model / WEIGHTS).exists()
    assert "search/s1" in (whole.path / "samples.html").read_text()

    again = go_on("search_rl", config, cut_off(whole.path, 1, tmp_path / "cut"), None, lambda _: None)
    assert read_curves(again) == read_curves(whole)
    assert (again.model / WEIGHTS).read_bytes() == (whole.model / WEIGHTS).read_bytes()
