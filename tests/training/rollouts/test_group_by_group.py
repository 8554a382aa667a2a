"""Gradients taken group by group are those of the whole batch, and are there before the next group is asked for."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="the trainer needs torch and trl (make setup-train)")

import torch

from app.domain.missing import Missing
from app.domain.trajectory import TurnKind
from bench.tiny_policy import VOCABULARY, make_tiny_policy
from tests.training.rollouts.policies import make_trainer
from tests.training.rollouts.rollout_groups import PlantedGroups, make_rollout
from training.rollouts.groups import Group
from training.rollouts.nouns import RolloutEnd, TrainingRow
from training.rollouts.objectives import DAPO, DR_GRPO, GRPO, GSPO, MEAN_ONLY_KL, Objective, Scale

pytestmark = pytest.mark.extra("trl")

GROUPS, SIZE = 3, 4
BY_GROUP = {"per_device_train_batch_size": SIZE, "gradient_accumulation_steps": GROUPS, "by_group": True, "rows_at_once": 3}
WHOLE = {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 2 * GROUPS}
OBJECTIVES = {
    "GRPO": GRPO,
    "Dr.GRPO": replace(DR_GRPO, length=16),
    "mean-only + KL": replace(MEAN_ONLY_KL, kl_weight=0.5),
    "DAPO": DAPO,
    "DAPO without capped rollouts": replace(DAPO, drop_capped=True),
    "GSPO": GSPO,
    "step credit": Objective(scale=Scale.NONE, step_weight=0.7),
}


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def draw_row(dice: random.Random, turn: int) -> TrainingRow:
    ids = [dice.randrange(2, VOCABULARY) for _ in range(dice.randint(3, 9))]
    sampled = [place > 0 and dice.random() < 0.7 for place in range(len(ids))]
    logprobs = [dice.uniform(-4, -1) if said else 0.0 for said in sampled]
    return TrainingRow("a", tuple(ids), tuple(sampled), tuple(logprobs), tuple(turn if said else -1 for said in sampled))


def draw_group(dice: random.Random, task: str) -> Group:
    """Draw rollouts of several rows or none, some without a reward, some capped."""
    group = []
    for number in range(SIZE):
        turns = dice.randint(0, 3)
        value = Missing("the judge was away") if dice.random() < 0.2 else dice.random()
        end = dice.choice((RolloutEnd.FINISHED, RolloutEnd.CAPPED))
        steps = [dice.gauss(0, 1) for _ in range(turns)]
        rollout = make_rollout(value, task, number, end, steps, kinds=[TurnKind.MODEL] * turns)
        group.append((rollout, [draw_row(dice, turn) for turn in range(turns)]))
    return group


def train(folder: Path, groups: Sequence[Group], objective: Objective, **options: Any) -> tuple[torch.Tensor, dict[str, Any]]:
    """Train two steps on the same groups, with clipped gradients; return the weights and the last step's log."""
    policy = make_tiny_policy(dtype=torch.float64)
    source = PlantedGroups(*groups, *groups)
    trainer = make_trainer(folder, source, objective, policy, max_steps=2, max_grad_norm=0.5, **options)
    trainer.train()
    return torch.nn.utils.parameters_to_vector(policy.parameters()).detach(), trainer.state.log_history[-2]


@pytest.mark.parametrize("name", OBJECTIVES)
def test_group_by_group_a_step_is_that_of_the_whole_batch(tmp_path: Path, name: str) -> None:
    dice = random.Random(name)
    groups = [draw_group(dice, f"t{place}") for place in range(GROUPS)]
    untrained = torch.nn.utils.parameters_to_vector(make_tiny_policy(dtype=torch.float64).parameters())
    whole, told = train(tmp_path / "a", groups, OBJECTIVES[name], **WHOLE)
    summed, log = train(tmp_path / "b", groups, OBJECTIVES[name], **BY_GROUP)
    # The model's norms compute in float32, also where its weights are in float64.
    assert (whole - summed).norm() < 1e-6 * (whole - untrained).norm()
    same = ("loss", "grad_norm", "reward", "reward_spread", "correction/gap_max", "correction/ratio_min", "staleness/1")
    assert {each: log[each] for each in same} == pytest.approx({each: told[each] for each in same}, abs=1e-6)


def test_the_gradient_of_a_group_is_there_before_the_next_is_taken(tmp_path: Path) -> None:
    class WatchingSource(PlantedGroups):
        def take_groups(self, count: int, policy_version: int) -> Sequence[Group]:
            seen.append((count, any(weights.grad is not None and weights.grad.any() for weights in policy.parameters())))
            return super().take_groups(count, policy_version)

    dice, policy = random.Random(1), make_tiny_policy()
    seen: list[tuple[int, bool]] = []
    source = WatchingSource(*(draw_group(dice, f"t{place}") for place in range(GROUPS)))
    make_trainer(tmp_path, source, GRPO, policy, max_steps=2, **BY_GROUP).train()
    assert seen == [(1, False), (1, True), (1, True)] * 2


@pytest.mark.parametrize("wrong", [{"num_iterations": 2}, {"steps_per_generation": 6}, {"per_device_train_batch_size": 8}])
def test_what_is_used_for_several_steps_is_not_taken_group_by_group(tmp_path: Path, wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="group by group"):
        make_trainer(tmp_path, PlantedGroups(draw_group(random.Random(2), "t")), GRPO, **{**BY_GROUP, **wrong})
