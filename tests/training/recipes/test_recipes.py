"""Recipes at toy size, through the command: they train, go on after a cut, and refuse what cannot be learned from."""

import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from app.domain.chat import ChatRole
from app.domain.errors import InvalidInput
from tests.support.chain_policy import save_chain_policy
from tests.support.stack import run_rubrica
from tests.training.recipes.toy_runs import OFFLINE, cut_off, measure_moved, read_curves, write_toy
from training.recipes.run_folder import TrainingFolder
from training.recipes.sft_cold_start.config import StoppingSection
from training.recipes.starting import check_training
from training.recipes.starting import train as go_on
from training.recipes.stop_signals import TrainingStopped
from training.synthesis.trajectories.conversations import TrainedConversation, TrainedMessage

pytestmark = pytest.mark.extra("trl")

SMALL = {"seed": 3, "device": "cpu", "save_every": 2, "keep": 9}


def train(recipe: str, config: Path, out: Path) -> TrainingFolder:
    """Train by the command."""
    done = run_rubrica(out.parent / "home", "train", recipe, "--config", str(config), "--out", str(out), **OFFLINE)
    assert done.returncode == 0, done.stderr
    assert str(out / "report.html") in done.stdout
    return TrainingFolder(out)


@pytest.mark.parametrize("recipe", ["sft_cold_start", "preference_dpo"])
def test_a_recipe_trains_an_adapter_and_goes_on_where_it_was_cut_off(recipe: str, tmp_path: Path) -> None:
    changes = {"run": SMALL, "optimizer": {"epochs": 1}}
    if recipe == "sft_cold_start":
        changes["stopping"] = {"check_every": 3, "mid_step": 3}
    config = write_toy(tmp_path, recipe, rows=11, **changes)
    whole = train(recipe, config, tmp_path / "whole")
    adapter = json.loads((whole.model / "adapter_config.json").read_text())
    assert adapter["peft_type"] == "LORA"
    assert not list(whole.model.rglob("*.bin")) + list(whole.model.rglob("*.pt"))
    assert "base_model: tiny-random" in (whole.model / "README.md").read_text()
    samples = (whole.path / "samples.html").read_text()
    assert 'class="trained"' in samples
    assert ("example 1" if recipe == "sft_cold_start" else "pair 1, worse") in samples
    assert "<svg" in (whole.path / "report.html").read_text()
    losses = [values["loss"] for _, values in read_curves(whole) if "loss" in values]
    assert losses[-1] < losses[0]

    again = go_on(recipe, config, cut_off(whole.path, 2, tmp_path / "cut"), None, lambda _: None)
    assert read_curves(again) == read_curves(whole)
    weights = "adapter_model.safetensors"
    assert (again.model / weights).read_bytes() == (whole.model / weights).read_bytes()

    (again.path / "report.html").write_text("a kill came before the last report")
    assert "finished" in (go_on(recipe, config, again.path, None, lambda _: None).path / "report.html").read_text()


def write_ending_early(folder: Path, **rule: int) -> Path:
    """Write a cold start that the stopping rule ends after its second step, unless a part of the rule is another."""
    save_chain_policy(folder / "chain", [["<think>so</think><answer>piers</answer>"]])  # as the toy rows
    ends = {"check_every": 2, "mid_step": 2, "contexts": [40], "answer_tokens": 8, "window": 1, "flat": 0.9, "entropy_kept": 0.01}
    changes = {"run": SMALL | {"save_every": 1}, "model": {"base": "chain"}, "stopping": ends | rule}
    return write_toy(folder, "sft_cold_start", rows=20, **changes)


def test_a_run_that_ended_early_ends_there_again_after_a_kill(tmp_path: Path) -> None:
    config = write_ending_early(tmp_path)
    ended = go_on("sft_cold_start", config, tmp_path / "whole", None, lambda _: None)
    assert read_curves(ended)[-1][0] == 2
    again = go_on("sft_cold_start", config, cut_off(ended.path, 2, tmp_path / "cut"), None, lambda _: None)
    assert read_curves(again) == read_curves(ended)
    weights = "adapter_model.safetensors"
    assert (again.model / weights).read_bytes() == (ended.model / weights).read_bytes()


@pytest.fixture
def signal_after_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def keep_and_stop(folder: TrainingFolder, step: int, values: Mapping[str, float]) -> None:
        keep(folder, step, values)
        if step == 1:
            os.kill(os.getpid(), signal.SIGTERM)

    keep = TrainingFolder.keep_metrics
    monkeypatch.setattr(TrainingFolder, "keep_metrics", keep_and_stop)


@pytest.mark.usefixtures("signal_after_a_step")
def test_a_signal_stops_a_run_also_at_a_check_that_lets_it_go_on(tmp_path: Path) -> None:
    config = write_ending_early(tmp_path, window=9)
    with pytest.raises(TrainingStopped, match="after step 2"):
        go_on("sft_cold_start", config, tmp_path / "run", None, lambda _: None)
    assert TrainingFolder(tmp_path / "run").checkpoint_step == 2


@pytest.mark.usefixtures("signal_after_a_step")
def test_a_run_that_the_rule_ends_is_delivered_whatever_signal_came(tmp_path: Path) -> None:
    run = go_on("sft_cold_start", write_ending_early(tmp_path), tmp_path / "run", None, lambda _: None)
    assert run.is_finished
    assert read_curves(run)[-1][0] == 2


@pytest.mark.parametrize("recipe", ["sft_cold_start", "self_sft", "report_rl"])
@pytest.mark.parametrize("notation", ["schema", None])
def test_a_set_whose_answers_are_not_in_tags_is_refused(recipe: str, notation: str | None, tmp_path: Path) -> None:
    config = write_toy(tmp_path, recipe, rows=11)
    assert check_training(recipe, config, None, lambda _: None)
    (manifest,) = tmp_path.glob("*/manifest.json")
    told = json.loads(manifest.read_text())
    assert told["origin"]["notation"] == "tags"
    told["origin"]["notation"] = notation
    manifest.write_text(json.dumps(told))
    with pytest.raises(InvalidInput, match="RUBRICA_LLM_CODEC=tags"):
        check_training(recipe, config, None, lambda _: None)


def test_an_answer_by_a_schema_is_not_in_form() -> None:
    from training.recipes.sft_cold_start.checking import is_in_form

    assert not is_in_form('{"thought": "t", "action": "search", "inputs": ["piers"]}')
    assert is_in_form('<think>t</think><tool_call>{"name": "search", "arguments": {"query": "piers"}}</tool_call>')


def test_each_prompt_of_the_check_asks_for_its_own_step_whichever_turns_are_not_trained() -> None:
    from training.recipes.sft_cold_start.checking import list_prompts
    from training.rollouts.tiny_policy import build_tiny_tokenizer

    rule = StoppingSection(check_every=1, contexts=(100,), prompts=9, mid_step=0)
    turns = [("before the conversation", False), ("refused", False), ("kept", True), ("kept", True), ("cut off", False)]
    told = [TrainedMessage(role=ChatRole.USER, content="x" * 60)]
    told += [TrainedMessage(role=ChatRole.ASSISTANT, content=said, trained=trained) for said, trained in turns]
    conversation = TrainedConversation(agent="a", steps=("plan", "act", "finding", "report"), messages=tuple(told))
    found = list_prompts([conversation], rule, build_tiny_tokenizer())
    assert [prompt.step for prompt in found[100]] == ["act", "finding"]


def test_the_entropy_of_a_long_answer_never_needs_the_logits_of_all_its_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from training.recipes.chatml import MaskedIds
    from training.recipes.sft_cold_start import checking
    from training.rollouts.tiny_policy import build_tiny_model, build_tiny_tokenizer

    model, widths = build_tiny_model(build_tiny_tokenizer()), list[int]()
    model.lm_head.register_forward_hook(lambda head, given, logits: widths.append(logits.shape[1]))
    examples = [MaskedIds(tuple(range(5, 15)), (False, False, *[True] * 7, False)), MaskedIds((7, 8, 9), (False, True, True))]
    with torch.no_grad():
        spreads = [model(torch.tensor([each.ids])).logits[0, :-1][list(each.trained[1:])].log_softmax(-1) for each in examples]
        entropies = torch.cat([-(spread.exp() * spread).sum(-1) for spread in spreads])
        widths.clear()
        monkeypatch.setattr(checking, "LOGITS_AT_ONCE", 3)
        measured = checking.measure_entropy(model, examples)
    assert measured == pytest.approx(float(entropies.mean()), abs=1e-5)
    assert widths == [3, 3, 1, 2]


def test_all_weights_learn_the_policys_own_good_outputs(tmp_path: Path) -> None:
    config = write_toy(tmp_path, "self_sft", rows=11, run=SMALL, optimizer={"epochs": 1})
    said = config.read_text()
    config.write_text(said.replace("[adapter]\nrank = 8\nalpha = 16\n", ""))
    folder = train("self_sft", config, tmp_path / "run")
    assert (folder.model / "model.safetensors").exists()
    assert not (folder.model / "adapter_config.json").exists()
    figures = folder.read_figures()
    assert {"reports with tense errors, before", "reports with tense errors, after"} <= figures.keys()


def test_a_small_step_in_bfloat16_moves_all_weights_on_whatever_device_there_is(tmp_path: Path) -> None:
    changes = {"optimizer": {"learning_rate": 1e-6, "accumulation": 16, "epochs": 1}, "model": {"dtype": "bfloat16"}}
    config = write_toy(tmp_path, "self_sft", rows=11, run={**SMALL, "device": "auto"}, **changes)
    config.write_text(config.read_text().replace("[adapter]\nrank = 8\nalpha = 16\n", ""))
    folder = go_on("self_sft", config, tmp_path / "run", None, lambda _: None)
    assert read_curves(folder)[-1][0] == 1
    assert min(measure_moved(folder).values()) > 0.9


def test_broken_data_is_refused_with_what_to_do(tmp_path: Path) -> None:
    config = write_toy(tmp_path, "sft_cold_start", rows=11)
    arguments = ("train", "sft_cold_start", "--config", str(config), "--dry-run")
    done = run_rubrica(tmp_path / "home", *arguments, **OFFLINE)
    assert done.returncode == 0, done.stderr
    assert all(word in done.stdout for word in ("examples", "tokens", "steps", "memory", "format limit 0.0253"))
    assert not (tmp_path / "run").exists()

    rows = tmp_path / "trajectories/train/rows.jsonl"
    rows.write_bytes(rows.read_bytes().replace(b'"search"', b'"saerch"', 1))
    done = run_rubrica(tmp_path / "home", *arguments, **OFFLINE)
    assert (done.returncode, "run the `rubrica data make` command of this set again" in done.stderr) == (2, True), done.stderr


def test_the_lineage_of_the_base_says_whose_outputs_a_set_has(tmp_path: Path) -> None:
    from app.domain.split import Split
    from training.base_lineage import trace_base
    from training.recipes.catalogue import load_recipe
    from training.recipes.config import read_config
    from training.recipes.own_samples import read_pairs

    config = write_toy(tmp_path, "preference_dpo", rows=11)
    read = read_config(config, load_recipe("preference_dpo").config)
    rows = tmp_path / "self-samples/train/rows.jsonl"
    assert len(read_pairs(read.model, read.data, Split.TRAIN)) == len(rows.read_bytes().splitlines())
    other = tmp_path / "other"
    save_chain_policy(other, [["a", "b"]])
    with pytest.raises(InvalidInput, match="not sampled from the weights of"):
        read_pairs(read.model.model_copy(update={"base": str(other)}), read.data, Split.TRAIN)
    manifest = tmp_path / "self-samples/manifest.json"
    own = json.loads(manifest.read_text())
    own["origin"]["base"] = trace_base(str(other))
    manifest.write_text(json.dumps(own))
    assert read_pairs(read.model.model_copy(update={"base": str(other)}), read.data, Split.TRAIN)
    (other / "config.json").write_text((other / "config.json").read_text() + " ")
    with pytest.raises(InvalidInput, match="--option base="):
        read_pairs(read.model.model_copy(update={"base": str(other)}), read.data, Split.TRAIN)
