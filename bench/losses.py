"""`python -m bench.losses`: hold the trainer's losses and gradients against the papers' equations, written out by hand.

Each objective trains a tiny policy in float64 on random groups: rollouts of several rows, of none, without reward, and sampled
by a program whose probabilities differ. The second step over a batch is compared, when the policy has moved away from the one
that the batch was made for: `max_rel_error` is of the loss, `max_grad_rel_error` of the gradient over all weights (norm of the
difference over the norm). DPO is TRL's, through the recipe's trainer: pairs of ids, the reference's log-probabilities computed
before, and the likelihood of the better output mixed in.
"""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import contextlib
import io
import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench import losses_by_hand
from bench.losses_by_hand import Sample, SampledRow
from bench.result import print_result, print_skipped

try:
    import torch
    from datasets import Dataset
    from transformers import TrainerCallback
    from trl import GRPOConfig

    from bench.tiny_policy import EOS, VOCABULARY, make_tiny_policy, make_tiny_tokenizer
    from training.recipes.preference_dpo.trainer import PairTrainer, make_arguments
    from training.rollouts.trainer import RolloutTrainer
except ImportError as error:  # pragma: no cover
    print_skipped("losses", f"needs torch and trl: {error}")
    raise SystemExit(0) from error

from app.domain.missing import Missing
from app.domain.trajectory import Trajectory, Turn, TurnKind
from training.recipes.config import TINY
from training.recipes.preference_dpo.config import DpoConfig
from training.recipes.run_folder import TrainingFolder
from training.rollouts.groups import Group
from training.rollouts.nouns import Reward, Rollout, RolloutEnd, TrainingRow
from training.rollouts.objectives import DAPO, DR_GRPO, GRPO, GSPO, MEAN_ONLY_KL, Level, Objective, Scale

BATCHES = 4
GROUPS, SIZE = 3, 4
BETA, STEP_WEIGHT, SFT_WEIGHT, LENGTH = 0.1, 0.7, 0.5, 16
SAMPLER_GAP = 0.4
"""Natural log-probability, standard deviation."""

OBJECTIVES: Mapping[str, tuple[Objective, Callable[[Sequence[Sequence[Sample]]], torch.Tensor]]] = {
    "GRPO": (GRPO, losses_by_hand.grpo),
    "Dr.GRPO": (replace(DR_GRPO, length=LENGTH), lambda groups: losses_by_hand.dr_grpo(groups, LENGTH)),
    "mean-only + KL": (replace(MEAN_ONLY_KL, kl_weight=BETA), lambda groups: losses_by_hand.mean_only_kl(groups, BETA)),
    "DAPO": (DAPO, losses_by_hand.dapo),
    "GSPO": (GSPO, losses_by_hand.gspo),
    "GSPO, corrected": (GSPO, losses_by_hand.gspo_by_token),
    "step credit": (
        Objective(scale=Scale.NONE, step_weight=STEP_WEIGHT),
        lambda groups: losses_by_hand.step_credit(groups, STEP_WEIGHT),
    ),
}


LEARNING_RATE = 0.02
SMALL_LEARNING_RATE = 6e-5
"""For bounds of a few ten-thousandths: a larger step takes every sequence past them, and nothing is left to compare."""


@dataclass(frozen=True)
class Errors:
    """The relative errors of a loss and of its gradient, and the share of tokens without one since their ratio was clipped."""

    value: float
    gradient: float
    clipped: float = 0.0


class PlannedGroups:
    """A source that gives the groups of one batch."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self._groups = list(groups)

    def take_groups(self, count: int, policy_version: int) -> Sequence[Group]:
        """Give them all."""
        assert count == len(self._groups)
        return self._groups

    def save_state(self) -> Mapping[str, Any]:
        """Return nothing."""
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Do nothing."""


class SecondStep(TrainerCallback):  # type: ignore[misc]
    """Keeps the weights and gradients of the second step, before the optimizer changes them."""

    def __init__(self) -> None:
        self.weights: torch.Tensor | None = None
        self.gradient: torch.Tensor | None = None

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Copy both; the last call stays."""
        parameters = list(given["model"].parameters())
        self.weights = torch.nn.utils.parameters_to_vector(parameters).detach().clone()
        self.gradient = torch.cat([weights.grad.flatten() for weights in parameters]).clone()


class WatchedTrainer(RolloutTrainer):
    """The trainer, whose losses are written down."""

    def compute_loss(self, *given: Any, **named: Any) -> torch.Tensor:
        """Write the loss down."""
        loss = super().compute_loss(*given, **named)
        self.values = [*getattr(self, "values", []), loss.item()]
        return loss


def make_group(generator: random.Random, policy: Any, gap: float, flat: bool) -> Group:
    """Make a group with a rollout of no rows and one without reward."""
    group = []
    for number in range(SIZE):
        turns = 0 if number == 2 and not flat else generator.randint(1, 3)
        rows = [make_row(generator, policy, gap, turn) for turn in range(turns)]
        value = Missing("the judge was away") if number == 1 and not flat else 1.0 if flat else generator.random()
        group.append((make_rollout(number, value, tuple(generator.gauss(0, 1) for _ in range(turns))), rows))
    return group


def make_rollout(number: int, value: Any, steps: tuple[float, ...]) -> Rollout:
    turns = tuple(Turn(agent="a", ordinal=n, kind=TurnKind.MODEL, step="s", digest="d") for n in range(len(steps)))
    return Rollout("t", number, Trajectory(episode="t", turns=turns), "", RolloutEnd.FINISHED, Reward(value, {}, steps))


def make_row(generator: random.Random, policy: Any, gap: float, turn: int) -> TrainingRow:
    """Make a row with a second observation in its midst, whose sampler differs from the policy by `gap`."""
    ids = [generator.randrange(2, VOCABULARY) for _ in range(generator.randint(4, 12))]
    sampled = [place > 0 and generator.random() < 0.7 for place in range(len(ids))]
    sampled[-1] = True
    with torch.no_grad():
        known = score_tokens(policy, ids)
    logprobs = [known[n].item() + generator.gauss(0, gap) if said else 0.0 for n, said in enumerate(sampled)]
    return TrainingRow("a", tuple(ids), tuple(sampled), tuple(logprobs), tuple(turn if said else -1 for said in sampled))


def score_tokens(policy: Any, ids: Sequence[int]) -> list[torch.Tensor]:
    """Return each token's log-probability, one row at a time and unpadded; of the first it is 0."""
    logits = policy(torch.tensor([list(ids)])).logits[0]
    return [torch.zeros(()), *(logits[n - 1, ids[n]] - torch.logsumexp(logits[n - 1], 0) for n in range(1, len(ids)))]


def read_row(row: TrainingRow, now: Any, old: Any) -> SampledRow:
    """Score a row under both policies."""
    places = [n for n, said in enumerate(row.sampled) if said]
    current, former = score_tokens(now, row.ids), score_tokens(old, row.ids)
    before = [former[n].item() for n in places]
    steps = [row.turns[n] for n in places]
    return SampledRow([current[n] for n in places], before, [row.logprobs[n] for n in places], before, steps)


def read_group(group: Group, now: Any, old: Any) -> list[Sample]:
    return [
        Sample(
            None if isinstance(rollout.reward.value, Missing) else rollout.reward.value,
            list(rollout.reward.steps),
            [read_row(row, now, old) for row in rows],
        )
        for rollout, rows in group
    ]


def compare_objective(name: str, seed: int) -> Errors:
    """Train two steps on one batch, and hold the second against the equations."""
    objective, by_hand = OBJECTIVES[name]
    generator = random.Random(seed)
    old, policy = (make_tiny_policy(seed, torch.float64) for _ in range(2))
    # The papers' equation for sequences is of a sampler that is the old policy.
    gap = 0.0 if name == "GSPO" else SAMPLER_GAP
    groups = [make_group(generator, old, gap, flat=place == GROUPS - 1) for place in range(GROUPS)]
    # The collector's filter, which the trainer never sees; the equation leaves the group out itself.
    handed_over = groups[:-1] if objective is DAPO else groups
    value, seen, clipped = train_twice(policy, handed_over, objective, seed)
    assert seen.weights is not None
    now = make_tiny_policy(seed, torch.float64)
    torch.nn.utils.vector_to_parameters(seen.weights, now.parameters())
    expected = by_hand([read_group(group, now, old) for group in groups])
    return replace(measure_errors(value, seen.gradient, expected, now), clipped=clipped)


def train_twice(policy: Any, groups: Sequence[Group], objective: Objective, seed: int) -> tuple[float, SecondStep, float]:
    """Return the loss of the second step, what the callback saw, and the share of tokens clipped there."""
    seen = SecondStep()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        config = GRPOConfig(
            folder,
            **plain_settings(seed, SMALL_LEARNING_RATE if objective.ratio is Level.SEQUENCE else LEARNING_RATE),
            max_steps=2,
            num_iterations=2,
            gradient_accumulation_steps=2,
            steps_per_generation=2,
            per_device_train_batch_size=len(groups) * SIZE // 2,
            num_generations=SIZE,
        )
        source = PlannedGroups(groups)
        trainer = WatchedTrainer(policy, source, objective, config, make_tiny_tokenizer(), callbacks=[seen])
        trainer.train()
    last = trainer.state.log_history[1]
    return sum(trainer.values[-2:]), seen, last["clipped/low"] + last["clipped/high"]


def plain_settings(seed: int, learning_rate: float) -> dict[str, Any]:
    return {
        "use_cpu": True,
        "bf16": False,
        "seed": seed,
        "gradient_checkpointing": False,
        "report_to": "none",
        "save_strategy": "no",
        "disable_tqdm": True,
        "max_grad_norm": 0.0,
        "optim": "sgd",
        "lr_scheduler_type": "constant",
        "learning_rate": learning_rate,
        "logging_steps": 1,
    }


def measure_errors(value: float, gradient: torch.Tensor | None, expected: torch.Tensor, model: Any) -> Errors:
    assert gradient is not None
    parts = torch.autograd.grad(expected, list(model.parameters()), allow_unused=True)
    whole = [torch.zeros_like(weights) if part is None else part for weights, part in zip(model.parameters(), parts, strict=True)]
    by_hand = torch.cat([part.flatten() for part in whole])
    if not by_hand.norm():
        raise ValueError("the batch has no gradient: there is nothing to compare")
    error = (gradient - by_hand).norm() / by_hand.norm()
    return Errors(abs(value - expected.item()) / abs(expected.item()), error.item())


def compare_dpo(seed: int) -> Errors:
    """Hold the loss of preference pairs against Eq. 14, with a policy that has left its reference."""
    generator = random.Random(seed)
    reference, policy = make_tiny_policy(seed, torch.float64), make_tiny_policy(seed, torch.float64)
    pairs = [[[generator.randrange(2, VOCABULARY) for _ in range(generator.randint(2, 6))] for _ in range(3)] for _ in range(6)]
    rows = [{"prompt_ids": said, "chosen_ids": [*better, EOS], "rejected_ids": [*worse, EOS]} for said, better, worse in pairs]
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        arguments = make_arguments(describe_dpo(seed, len(pairs)), TrainingFolder(Path(folder)))
        trainer = PairTrainer(
            policy, args=arguments, train_dataset=Dataset.from_list(rows), processing_class=make_tiny_tokenizer()
        )
        with torch.no_grad():
            for weights in policy.parameters():
                weights.add_(torch.randn_like(weights) * 0.02)
        loss = trainer.compute_loss(policy, next(iter(trainer.get_train_dataloader())))
        loss.backward()
    gradient = torch.cat([weights.grad.flatten() for weights in policy.parameters()])
    spoken = [tuple(read_answer(prompt, answer, policy, reference) for answer in both) for prompt, *both in pairs]
    return measure_errors(loss.item(), gradient, losses_by_hand.dpo(spoken, BETA, SFT_WEIGHT), policy)  # type: ignore[arg-type]


def describe_dpo(seed: int, pairs: int) -> DpoConfig:
    """Return a configuration of the recipe whose step takes so many pairs."""
    return DpoConfig.model_validate(
        {
            "model": {"base": TINY},
            "data": {"sets": ["none"], "max_tokens": 64},
            "dpo": {"beta": BETA, "sft_weight": SFT_WEIGHT},
            "optimizer": {"learning_rate": LEARNING_RATE, "batch_size": pairs},
            "run": {"device": "cpu", "seed": seed},
        }
    )


def read_answer(prompt: Sequence[int], answer: Sequence[int], policy: Any, reference: Any) -> SampledRow:
    ids = [*prompt, *answer, EOS]
    now, before = (score_tokens(model, ids)[len(prompt) :] for model in (policy, reference))
    return SampledRow(now, [], [], [value.item() for value in before], [])


def main() -> None:
    worst = Errors(0.0, 0.0)
    for name in (*OBJECTIVES, "DPO"):
        runs = [compare_dpo(seed) if name == "DPO" else compare_objective(name, seed) for seed in range(BATCHES)]
        own = Errors(max(run.value for run in runs), max(run.gradient for run in runs))
        clipped = ", ".join(f"{run.clipped:.0%}" for run in runs)
        print(f"{name:15} loss {own.value:.1e}  gradient {own.gradient:.1e}  tokens clipped in each batch {clipped}", flush=True)
        worst = Errors(max(worst.value, own.value), max(worst.gradient, own.gradient))
    print_result("losses", {"max_rel_error": worst.value, "max_grad_rel_error": worst.gradient})


if __name__ == "__main__":
    main()
