"""Runs that end before their last step: by a signal, or because the rewards no longer differ."""

import os
import signal
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="training needs what `make setup-train` installs")

from infra.cli.training import NOTHING_LEFT, train_and_report
from tests.support.stack import RUBRICA, command_environment
from tests.training.recipes.small_policies import STEPS, judge, make_config, train_small, validate
from tests.training.recipes.toy_runs import OFFLINE, write_toy
from training.recipes.catalogue import load_recipe
from training.recipes.config import read_config
from training.recipes.run_folder import METRICS, TrainingFolder
from training.recipes.starting import describe_run
from training.recipes.stop_signals import TrainingStopped
from training.rollouts.collection_failures import CollectionFailed, NothingLeftToLearn
from training.rollouts.nouns import Reward, Rollout, Task

pytestmark = pytest.mark.extra("trl")

SATURATED_FROM = 2
FILTERED = {"objective": {"name": "dapo"}, "filter": {"most_tries": 1, "most_given_up": 3}, "validation": {"eval_every": 4}}


async def judge_until_saturated(task: Task[int], rollout: Rollout) -> Reward:
    return Reward(0.75) if rollout.policy_version >= SATURATED_FROM else Reward(float(rollout.number))


@pytest.mark.parametrize("most_versions_old", [0, 1])
def test_a_run_whose_rewards_no_longer_differ_ends_with_the_policy_of_that_step(tmp_path: Path, most_versions_old: int) -> None:
    config = make_config(**FILTERED, rollouts={"most_versions_old": most_versions_old})
    run = train_small(tmp_path / "run", config, 9, judge_until_saturated, validate=validate)
    last = SATURATED_FROM + most_versions_old
    assert run.is_finished
    assert run.ending.startswith(f"nothing left to learn after step {last}: ")
    assert "0.75 on average" in run.ending
    assert "nothing left to learn" in (run.path / "report.html").read_text()
    assert last in {each.step for each in run.read_metrics() if "validation" in each.values}


def test_rewards_that_never_differed_are_an_error(tmp_path: Path) -> None:
    async def judge_all_alike(task: Task[int], rollout: Rollout) -> Reward:
        return Reward(0.0)

    with pytest.raises(NothingLeftToLearn):
        train_small(tmp_path / "run", make_config(**FILTERED), judged=judge_all_alike)
    assert not TrainingFolder(tmp_path / "run").is_finished


def test_a_judge_who_goes_away_is_an_error(tmp_path: Path) -> None:
    async def judge_at_first(task: Task[int], rollout: Rollout) -> Reward:
        if rollout.policy_version:
            raise ConnectionError("no route to the judge")
        return await judge(task, rollout)

    with pytest.raises(CollectionFailed, match="no route to the judge") as failed:
        train_small(tmp_path / "run", make_config(**FILTERED), judged=judge_at_first)
    assert not isinstance(failed.value, NothingLeftToLearn)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_run_after_the_step_in_hand_and_it_goes_on(
    tmp_path: Path, number: signal.Signals, request: pytest.FixtureRequest
) -> None:
    async def judge_and_stop(task: Task[int], rollout: Rollout) -> Reward:
        if rollout.policy_version == 1 and not stopped:
            stopped.append(number)
            os.kill(os.getpid(), number)
        return await judge(task, rollout)

    stopped: list[signal.Signals] = []
    # A test run in the background ignores Ctrl-C.
    request.addfinalizer(partial(signal.signal, number, signal.signal(number, signal.default_int_handler)))
    before = signal.getsignal(number)
    config = make_config(run={"save_every": 9})
    whole = train_small(tmp_path / "whole", config)
    with pytest.raises(TrainingStopped, match="after step 2; the same command goes on"):
        train_small(tmp_path / "cut", config, judged=judge_and_stop)
    cut = TrainingFolder(tmp_path / "cut")
    assert (cut.checkpoint_step, cut.is_finished, signal.getsignal(number)) == (2, False, before)
    again = train_small(tmp_path / "cut", config, judged=judge_and_stop)
    weights = "model.safetensors"
    assert (again.model / weights).read_bytes() == (whole.model / weights).read_bytes()
    assert again.ending == ""
    assert max(each.step for each in again.read_metrics()) == STEPS


def test_the_command_says_that_it_was_stopped_and_goes_on(tmp_path: Path) -> None:
    config = write_toy(tmp_path, "self_sft", rows=11, run={"seed": 3, "device": "cpu"}, rates={"prompts": 1})
    out = tmp_path / "run"
    words = [*RUBRICA, "train", "self_sft", "--config", str(config), "--out", str(out)]
    environment = command_environment(**OFFLINE)
    begun = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True)
    while begun.poll() is None and not ((out / METRICS).exists() and (out / METRICS).read_text()):
        time.sleep(0.02)
    begun.send_signal(signal.SIGTERM)
    said = begun.communicate(timeout=120)[1]
    assert begun.returncode == 128 + signal.SIGTERM, said
    assert "the same command goes on from there" in said
    assert "stopped after step" in (out / "report.html").read_text()
    again = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert "goes on after step" in again.stderr


def test_the_exit_code_says_that_nothing_was_left_to_learn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_toy(tmp_path, "self_sft", rows=11)
    recipe, folder = load_recipe("self_sft"), TrainingFolder(tmp_path / "run")
    with folder.open_run(describe_run(recipe, read_config(path, recipe.config))):
        folder.keep_ending("nothing left to learn after step 7")
        folder.model.mkdir()
    assert train_and_report("self_sft", path, folder.path, None) == NOTHING_LEFT
    assert "nothing left to learn after step 7" in capsys.readouterr().err
