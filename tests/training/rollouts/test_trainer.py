import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="the trainer needs torch and trl (make setup-train)")

import torch

from app.domain.missing import Missing
from app.domain.trajectory import TurnKind
from bench.tiny_policy import make_tiny_policy
from tests.training.rollouts.policies import SampledGroups, make_trainer
from tests.training.rollouts.rollout_groups import PlantedGroups, make_rollout, make_row
from training.rollouts.corrections import Correction
from training.rollouts.groups import Group
from training.rollouts.nouns import RolloutEnd, TrainingRow
from training.rollouts.objectives import DAPO, DR_GRPO, GRPO, GSPO, MEAN_ONLY_KL, Level, Objective, Scale

pytestmark = pytest.mark.extra("trl")

IDS = [2, 3, 4, 5, 6, 7]
WISHED = 9
MEAN_ONLY = Objective(scale=Scale.NONE)


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@torch.no_grad()
def score_row(policy: Any, row: TrainingRow, gap: float = 0.0) -> TrainingRow:
    """Give a row the policy's own log-probabilities, less a planted gap."""
    spread = policy(torch.tensor([row.ids])).logits[0].log_softmax(-1)
    known = [spread[place - 1, row.ids[place]].item() - gap if said else 0.0 for place, said in enumerate(row.sampled)]
    return replace(row, logprobs=tuple(known))


def plant_pair(gap: float = 0.0) -> list[tuple[Any, list[TrainingRow]]]:
    """Plant a good rollout of two rows and a bad one of one row."""
    policy = make_tiny_policy()
    rows = [make_row(IDS, 3), make_row([2, 8, 9], 1), make_row([2, 3, 10, 11], 2)]
    first, second, third = (score_row(policy, row, gap) for row in rows)
    return [(make_rollout(1.0, number=0), [first, second]), (make_rollout(0.0, number=1), [third])]


def train_on(folder: Path, group: Group, objective: Objective = MEAN_ONLY, **options: Any) -> tuple[torch.Tensor, dict[str, Any]]:
    """Train one step on a group; return how the weights changed, and the last step's log."""
    policy = make_tiny_policy()
    before = torch.nn.utils.parameters_to_vector(policy.parameters()).detach().clone()
    trainer = make_trainer(folder, PlantedGroups(group), objective, policy, **options)
    trainer.train()
    return torch.nn.utils.parameters_to_vector(policy.parameters()).detach() - before, trainer.state.log_history[-2]


def test_a_policy_learns_to_say_a_word(tmp_path: Path) -> None:
    policy = make_tiny_policy()
    source = SampledGroups(policy, lambda said: float(WISHED in said), size=8)
    options = {"optim": "adamw_torch", "learning_rate": 2e-2, "per_device_train_batch_size": 32, "num_generations": 8}
    trainer = make_trainer(tmp_path, source, GRPO, policy, max_steps=20, **options)
    trainer.train()
    rewards = [line["reward"] for line in trainer.state.log_history if "reward" in line]
    assert sum(rewards[:3]) / 3 < 0.4
    assert sum(rewards[-3:]) / 3 > 0.8


def test_clipping_and_entropy_are_means_over_tokens_however_the_rows_are_read(tmp_path: Path) -> None:
    twice = {"max_steps": 2, "num_iterations": 2, "learning_rate": 20.0}
    tight = replace(MEAN_ONLY, clip_low=0.01, clip_high=0.01)
    together, one = (train_on(tmp_path / str(at), plant_pair(), tight, rows_at_once=at, **twice)[1] for at in (4, 1))
    assert together["clipped/high"] * 6 == pytest.approx(round(together["clipped/high"] * 6)), "six tokens were sampled"
    assert together["clipped/low"] + together["clipped/high"] > 0
    for name in ("clipped/low", "clipped/high", "entropy"):
        assert one[name] == pytest.approx(together[name], rel=1e-3), name


def test_a_gap_between_sampler_and_trainer_is_seen_and_corrected(tmp_path: Path) -> None:
    plain, _ = train_on(tmp_path / "a", plant_pair())
    moved, log = train_on(tmp_path / "b", plant_pair(gap=0.3))
    assert log["correction/gap_mean"] == pytest.approx(0.3, abs=1e-4)
    assert torch.allclose(moved, plain * torch.tensor(0.3).exp(), atol=1e-6)


def test_the_correction_is_truncated_at_its_bound(tmp_path: Path) -> None:
    plain, _ = train_on(tmp_path / "a", plant_pair())
    bounded, log = train_on(tmp_path / "b", plant_pair(gap=3.0), correction=Correction(highest=1.5))
    assert (log["correction/truncated_share"], log["correction/ratio_max"] > 20) == (1.0, True)
    assert torch.allclose(bounded, plain * 1.5, atol=1e-6)


def test_at_sequence_level_a_row_is_corrected_as_a_whole(tmp_path: Path) -> None:
    group = [plant_pair(gap=0.1)[0], (make_rollout(0.0, number=1), [])]
    _, log = train_on(tmp_path, group, correction=Correction(Level.SEQUENCE, highest=9.0))
    assert log["correction/ratio_max"] == pytest.approx(torch.tensor(0.3).exp().item(), rel=1e-4)


@pytest.mark.parametrize(
    "parts",
    [
        {"per_device_train_batch_size": 1, "num_generations": 2, "generation_batch_size": 2, "gradient_accumulation_steps": 2},
        {"per_device_train_batch_size": 2, "num_generations": 2},
    ],
)
def test_however_a_batch_is_split_the_step_is_the_same(tmp_path: Path, parts: dict[str, int]) -> None:
    whole, _ = train_on(tmp_path / "a", plant_pair())
    split, _ = train_on(tmp_path / "b", plant_pair(), **parts)
    assert whole.abs().max() > 1e-3
    assert torch.allclose(whole, split, atol=1e-6)


def test_a_missing_reward_and_an_empty_rollout_move_nothing_themselves(tmp_path: Path) -> None:
    pair = plant_pair()
    plain, _ = train_on(tmp_path / "a", pair)
    unjudged = (make_rollout(Missing("away"), number=2), pair[0][1])
    beside, log = train_on(tmp_path / "b", [*pair, unjudged])
    assert torch.allclose(plain, beside, atol=1e-7)
    assert log["reward"] == 0.5
    failed = (make_rollout(0.5, number=2, end=RolloutEnd.FAILED), [])
    third, _ = train_on(tmp_path / "c", [*pair, failed])
    assert torch.allclose(plain * 2 / 3, third, atol=1e-6)


def test_a_batch_without_any_spread_leaves_the_policy_as_it_is(tmp_path: Path) -> None:
    flat = [(replace(rollout, reward=make_rollout(1.0).reward), rows) for rollout, rows in plant_pair()]
    moved, log = train_on(tmp_path, flat, DAPO)
    assert (moved.abs().max(), log["reward_spread"]) == (0, 0)


def plant_steps(first: float, second: float) -> list[tuple[Any, list[TrainingRow]]]:
    """Plant two equal rollouts of two steps each, of which the first has these step rewards."""
    row = TrainingRow("a", (2, 3, 4, 5), (False, True, False, True), (0.0,) * 4, (-1, 0, -1, 1))
    rows = [score_row(make_tiny_policy(), row)]
    kinds = (TurnKind.MODEL, TurnKind.MODEL)
    rewards = [(first, second), (0.0, 0.0)]
    return [(make_rollout(1.0, number=n, steps=steps, kinds=kinds), rows) for n, steps in enumerate(rewards)]


@pytest.mark.parametrize("objective", [GRPO, GSPO], ids=["token", "sequence"])
def test_steps_that_differ_get_gradients_that_differ(tmp_path: Path, objective: Objective) -> None:
    by_step = replace(objective, scale=Scale.NONE, step_weight=1.0)
    first, _ = train_on(tmp_path / "a", plant_steps(1.0, 0.0), by_step)
    second, _ = train_on(tmp_path / "b", plant_steps(0.0, 1.0), by_step)
    assert not torch.allclose(first, second, atol=1e-4)
    ablated, _ = train_on(tmp_path / "c", plant_steps(1.0, 0.0), replace(by_step, step_weight=0.0))
    assert ablated.abs().max() == 0


@pytest.mark.parametrize("objective", [GRPO, DR_GRPO, MEAN_ONLY_KL, DAPO, GSPO])
def test_each_objective_moves_the_policy_towards_the_better_rollout(tmp_path: Path, objective: Objective) -> None:
    policy = make_tiny_policy()
    group = plant_pair()
    trainer = make_trainer(tmp_path, PlantedGroups(group), objective, policy, learning_rate=1e-3)
    trainer.train()

    def say(rows: Sequence[TrainingRow]) -> float:
        return sum(sum(score_row(policy, row).logprobs) - sum(row.logprobs) for row in rows)

    assert say(group[0][1]) > 0 > say(group[1][1])


def test_the_reference_is_the_policy_before_training(tmp_path: Path) -> None:
    strong = replace(MEAN_ONLY_KL, kl_weight=5.0)
    options = {"max_steps": 10, "learning_rate": 1e-3}
    _, free = train_on(tmp_path / "a", plant_pair(), replace(strong, kl_weight=0.0), **options)
    _, held = train_on(tmp_path / "b", plant_pair(), strong, **options)
    # The planted log-probabilities are those before training, so the gap is the distance from there.
    assert 0 < held["correction/gap_mean"] < free["correction/gap_mean"] / 5


def test_an_adapter_has_the_policy_without_it_for_reference(tmp_path: Path) -> None:
    from peft import LoraConfig

    adapter = LoraConfig(r=2, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    policy = make_tiny_policy()
    before = [weights.detach().clone() for weights in policy.parameters()]
    trainer = make_trainer(tmp_path, PlantedGroups(plant_pair()), MEAN_ONLY_KL, policy, max_steps=3, peft_config=adapter)
    trainer.train()
    with trainer.model.disable_adapter():
        kept = [weights for name, weights in trainer.model.named_parameters() if "lora" not in name]
    assert all(torch.equal(old, new) for old, new in zip(before, kept, strict=True))
    assert any(weights.abs().max() > 0 for name, weights in trainer.model.named_parameters() if "lora_B" in name)


def test_the_policy_samples_with_its_cache_though_checkpointing_is_on(tmp_path: Path) -> None:
    policy = make_tiny_policy()
    source = SampledGroups(policy, lambda said: float(WISHED in said))
    make_trainer(tmp_path, source, GRPO, policy, gradient_checkpointing=True).train()
    assert source.training == [False]


SPLIT = {"per_device_train_batch_size": 2, "steps_per_generation": 2}
BY_GROUP = {"by_group": True, "gradient_accumulation_steps": 2}


@pytest.mark.parametrize(
    ("stop", "parts"), [(3, SPLIT), (4, SPLIT), (3, BY_GROUP)], ids=["within a batch", "between batches", "group by group"]
)
def test_a_run_that_stopped_goes_on_bit_for_bit(tmp_path: Path, stop: int, parts: dict[str, Any]) -> None:
    options = {"optim": "adamw_torch", "save_strategy": "steps", "save_steps": stop, "part_weights": None, **parts}
    torch.use_deterministic_algorithms(True)
    try:
        whole, whole_log = _run_to(tmp_path / "whole", 6, None, **options)
        _run_to(tmp_path / "parts", stop, None, **options)
        checkpoint = tmp_path / "parts" / f"checkpoint-{stop}"
        resumed, resumed_log = _run_to(tmp_path / "parts", 6, checkpoint, **options)
    finally:
        torch.use_deterministic_algorithms(False)
    assert all(torch.equal(old, new) for old, new in zip(whole.parameters(), resumed.parameters(), strict=True))
    assert whole_log == resumed_log


def _run_to(folder: Path, steps: int, checkpoint: Path | None, **options: Any) -> tuple[Any, list[dict[str, Any]]]:
    policy = make_tiny_policy()
    source = SampledGroups(policy, lambda said: float(sum(said) % 7))
    trainer = make_trainer(folder, source, GRPO, policy, max_steps=steps, **options)
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    timed = ("step_time", "train_runtime", "train_samples_per_second", "train_steps_per_second", "train_loss", "epoch")
    log = [{name: value for name, value in line.items() if name not in timed} for line in trainer.state.log_history]
    return policy, log


def test_weights_of_rewards_and_ages_are_in_the_checkpoint(tmp_path: Path) -> None:
    parts = [{"tool": 1.0, "answer": 0.0}, {"tool": 0.0, "answer": 1.0}]
    group = [
        (replace(rollout, reward=make_rollout(0.0, parts=part).reward, policy_version=0), rows)
        for (rollout, rows), part in zip(plant_pair(), parts, strict=True)
    ]
    source = PlantedGroups(group)
    options: dict[str, Any] = {"max_steps": 2, "save_strategy": "steps", "save_steps": 2}
    trainer = make_trainer(tmp_path, source, MEAN_ONLY, part_weights={"tool": 0.6, "answer": 0.4}, **options)
    trainer.train()
    stored = json.loads((tmp_path / "checkpoint-2" / "rollouts-0.json").read_text())
    assert stored["part_weights"] == {"tool": 0.6, "answer": 0.4}
    assert stored["source"] == {"taken": 2}
    assert stored["staleness"]["by_age"] == {"0": 2, "1": 2}
    again = make_trainer(tmp_path, PlantedGroups(group), MEAN_ONLY, part_weights={"tool": 0.0}, **{**options, "max_steps": 3})
    again.train(resume_from_checkpoint=True)
    assert again.part_weights == {"tool": 0.6, "answer": 0.4}
    assert again.staleness.by_age == {0: 2, 1: 2, 2: 2}


@pytest.mark.parametrize(("option", "value"), [("beta", 0.1), ("epsilon_high", 0.3), ("max_steps", -1)])
def test_what_the_objective_sets_is_not_set_twice(tmp_path: Path, option: str, value: float) -> None:
    with pytest.raises(ValueError, match=option):
        make_trainer(tmp_path, PlantedGroups(plant_pair()), **{option: value})
