"""The training of an agent at toy size, through the command."""

from pathlib import Path

import pytest

pytest.importorskip("trl", reason="training needs what `make setup-train` installs")

from tests.support.stack import run_rubrica
from tests.training.recipes.toy_runs import OFFLINE, write_toy
from training.recipes.run_folder import TrainingFolder

pytestmark = pytest.mark.extra("trl")


def test_an_agent_is_trained_on_a_tape(tmp_path: Path) -> None:
    config = write_toy(
        tmp_path, "agent_rl", tools={"tape": "evidence-trees/tape.jsonl"}, optimizer={"epochs": 0.17}, validation={"tasks": 1}
    )
    done = run_rubrica(tmp_path / "home", "train", "agent_rl", "--config", str(config), "--out", str(tmp_path / "run"), **OFFLINE)
    assert done.returncode == 0, done.stderr
    assert "rubrics: tree" in done.stderr
    run = TrainingFolder(tmp_path / "run")
    logged = [each.values for each in run.read_metrics()]
    assert {"part/rubric", "part/format", "part/citation", "part/search"} <= {name for each in logged for name in each}
    assert (run.model / "adapter_model.safetensors").exists()
