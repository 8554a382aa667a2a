"""Collector, engine and trainer together: a run learns, can be cut and goes on, and delivers its best policy."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="training needs what `make setup-train` installs")

from tests.training.recipes.small_policies import STEPS, make_config, train_small, validate
from tests.training.recipes.toy_runs import cut_off, measure_moved, read_curves
from training.recipes.held_out import MISSING
from training.recipes.policy import load_model, place_base
from training.recipes.reinforcement.best_policy import list_saved
from training.recipes.reinforcement.train_policy import make_arguments
from training.recipes.run_folder import METRICS, TrainingFolder

pytestmark = pytest.mark.extra("trl")

WEIGHTS = "model.safetensors"


@pytest.mark.parametrize("kept", [0, STEPS - 1], ids=["before the first checkpoint", "in a batch"])
def test_a_cut_run_goes_on_as_if_it_had_not_been_cut(tmp_path: Path, kept: int) -> None:
    config = make_config(rollouts={"updates": 2}, run={"keep": STEPS})
    whole = train_small(tmp_path / "whole", config, validate=validate)
    again = train_small(cut_off(whole.path, kept, tmp_path / "cut"), config, validate=validate)
    assert read_curves(again) == read_curves(whole)
    assert again.read_figures() == whole.read_figures()
    assert (again.model / WEIGHTS).read_bytes() == (whole.model / WEIGHTS).read_bytes()


def test_the_run_shows_its_rollouts(tmp_path: Path) -> None:
    run = train_small(tmp_path / "run", make_config(), validate=validate)
    logged = [values for _, values in read_curves(run) if "reward" in values]
    assert len(logged) == STEPS
    assert {"part/letters", "part/words", "entropy", "clipped/low", "staleness/0", "collected/handed_over"} <= logged[-1].keys()
    assert logged[-1]["collected/handed_over"] == 2 * STEPS
    assert logged[-1]["correction/gap_max"] < 1e-4
    assert "sample 1" in (run.path / "samples.html").read_text()


def test_every_rollout_can_be_read_afterwards_and_is_kept_once(tmp_path: Path) -> None:
    config = make_config(run={"keep": STEPS})
    whole = train_small(tmp_path / "whole", config)
    again = train_small(cut_off(whole.path, 2, tmp_path / "cut"), config)
    logged = {step: values["reward"] for step, values in read_curves(whole) if "reward" in values}
    for step in range(1, STEPS + 1):
        kept = (again.path / "rollouts" / f"{step}.jsonl").read_text()
        assert kept == (whole.path / "rollouts" / f"{step}.jsonl").read_text()
        groups = [json.loads(line) for line in kept.splitlines()]
        rollouts = [rollout for group in groups for rollout in group["rollouts"]]
        assert sum(each["reward"]["value"] for each in rollouts) / len(rollouts) == pytest.approx(logged[step])
        assert all(each["turns"][0]["text"] == each["output"] and "letters" in each["reward"]["parts"] for each in rollouts)
        assert groups[0]["task"] in (again.path / f"samples-{step}.html").read_text()


@pytest.mark.parametrize("most_versions_old", [0, 1])
def test_a_small_step_in_bfloat16_moves_all_weights(tmp_path: Path, most_versions_old: int) -> None:
    changes = {"optimizer": {"learning_rate": 1e-6}, "model": {"dtype": "bfloat16"}}
    config = make_config(rollouts={"most_versions_old": most_versions_old}, **changes)
    run = train_small(tmp_path / "run", config, steps=1)
    assert min(measure_moved(run).values()) > 0.9


def test_the_best_policy_is_delivered(tmp_path: Path) -> None:
    async def prefer_the_second(_: Any) -> dict[str, float]:
        steps.append(len(steps))
        return {"validation": -abs(len(steps) - 2.0)}

    steps: list[int] = []
    run = train_small(tmp_path / "run", make_config(adapter={"rank": 2}), validate=prefer_the_second)
    assert run.read_figures()["best step"] == 2
    saved = dict(list_saved(run))[2] / "adapter_model.safetensors"
    assert (run.model / "adapter_model.safetensors").read_bytes() == saved.read_bytes()
    assert not list(run.model.glob("*.bin"))


@pytest.mark.parametrize(("absent", "best"), [([0.0, 0.5, 0.25], 2), ([0.0, 0.25, 0.5], 1), ([1.0, 0.5, 0.5], None)])
def test_a_policy_whose_judge_was_away_is_not_the_best(tmp_path: Path, absent: list[float], best: int | None) -> None:
    async def improve(_: Any) -> dict[str, float]:
        steps.append(len(steps))
        return {"validation": float(len(steps)), MISSING: absent[len(steps) - 1]}

    steps: list[int] = []
    run = train_small(tmp_path / "run", make_config(validation={"eval_every": 1}), steps=2, validate=improve)
    assert run.read_figures().get("best step") == best
    assert [values[MISSING] for _, values in read_curves(run) if MISSING in values] == absent
    assert run.is_finished


def test_the_collector_filters_groups_without_spread(tmp_path: Path) -> None:
    run = train_small(tmp_path / "run", make_config(objective={"name": "dapo"}, filter={"least_spread": 0.02, "most_tries": 9}))
    logged = [values for _, values in read_curves(run) if "reward" in values]
    assert min(values["reward_spread"] for values in logged) >= 0.02
    assert logged[-1]["collected/handed_over"] == 2 * STEPS


def test_a_copy_samples_while_the_policy_is_trained(tmp_path: Path) -> None:
    run = train_small(tmp_path / "run", make_config(rollouts={"most_versions_old": 1}), steps=6)
    last = [values for _, values in read_curves(run) if "reward" in values][-1]
    assert sum(value for name, value in last.items() if name.startswith("staleness/")) == 6 * 8
    assert {name for name in last if name.startswith("staleness/")} <= {"staleness/0", "staleness/1"}


def test_weights_of_parts_follow_their_schedule_through_a_checkpoint(tmp_path: Path) -> None:
    def shift(metrics: Any, weights: Any) -> dict[str, float]:
        return {"letters": weights["letters"] / 2, "words": 1.0}

    run = train_small(tmp_path / "run", make_config(), part_weights={"letters": 1.0, "words": 1.0}, schedule=shift)
    kept = json.loads((run.checkpoint / "rollouts-0.json").read_text())  # type: ignore[operator]
    assert kept["part_weights"] == {"letters": 0.5**STEPS, "words": 1.0}
    assert "weight/letters" in (run.path / METRICS).read_text()


def test_a_base_model_that_was_half_written_is_written_again(tmp_path: Path) -> None:
    half = tmp_path / "run" / "base.part"
    half.mkdir(parents=True)
    (half / "config.json").write_text('{"model_type"')
    config = make_config()
    assert load_model(config.model, place_base(config, TrainingFolder(tmp_path / "run")), "float32").config.model_type == "qwen3"


def test_dropout_would_part_the_policies_that_are_compared(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"leave adapter.dropout at 0"):
        make_config(adapter={"rank": 2, "dropout": 0.1})
    assert make_arguments(make_config(), TrainingFolder(tmp_path), 1).disable_dropout


@pytest.mark.parametrize(
    ("sections", "fault"), [({}, r"add an \[adapter\]"), ({"adapter": {"rank": 2}, "rollouts": {"top_p": 0.9}}, "top_p at 1")]
)
def test_what_vllm_cannot_sample_is_refused(sections: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        make_config(**{**sections, "rollouts": {"engine": "vllm", **sections.get("rollouts", {})}})
