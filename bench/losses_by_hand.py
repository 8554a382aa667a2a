"""The objectives of the papers, written out token by token, for `bench.losses`. Nothing here is shared with the trainer.

All are losses (minus the objective). A sequence is one row that a policy sampled; a rollout has one or more, and counts once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, sqrt
from typing import TypeAlias

import torch

Number: TypeAlias = torch.Tensor


@dataclass(frozen=True)
class SampledRow:
    """One sampled row: for each sampled token its log-probability under four policies, and the step it belongs to."""

    now: list[Number]
    old: list[float]
    sampler: list[float]
    reference: list[float]
    steps: list[int]


@dataclass(frozen=True)
class Sample:
    """One rollout: its reward (None if there is none), the rewards of its steps, its rows."""

    reward: float | None
    steps: list[float]
    rows: list[SampledRow]

    @property
    def length(self) -> int:
        """Return the number of sampled tokens."""
        return sum(len(row.now) for row in self.rows)


def find_deviation(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1)) if len(values) > 1 else 0.0


def advantage_of(value: float, values: Sequence[float], scaled: bool) -> float:
    """MDR Eq. 2; scaled as in GRPO."""
    over = value - sum(values) / len(values)
    return over / (find_deviation(values) + 1e-4) if scaled else over


def truncate(row: SampledRow, token: int) -> float:
    """The importance weight of a token that another program sampled, at most 2."""
    return min(exp(row.old[token] - row.sampler[token]), 2.0)


def clip(ratio: Number, advantage: float, low: float, high: float) -> Number:
    """The smaller of the gain and the clipped gain (MDR Eq. 4, 13)."""
    bounded = torch.clamp(ratio, 1 - low, 1 + high)
    return torch.minimum(ratio * advantage, bounded * advantage)


def list_present(group: Sequence[Sample]) -> list[Sample]:
    return [sample for sample in group if sample.reward is not None]


def rewards_of(group: Sequence[Sample]) -> list[float]:
    return [sample.reward for sample in group if sample.reward is not None]


def sum_tokens(sample: Sample, advantage: float, low: float, high: float) -> Number:
    total = torch.zeros((), dtype=torch.float64)
    for row in sample.rows:
        for token, now in enumerate(row.now):
            ratio = torch.exp(now - row.old[token])
            total = total + truncate(row, token) * clip(ratio, advantage, low, high)
    return total


def grpo(groups: Sequence[Sequence[Sample]]) -> Number:
    """The mean over rollouts of the mean over tokens; bounds .2."""
    terms = [
        sum_tokens(sample, advantage_of(sample.reward or 0.0, rewards_of(group), True), 0.2, 0.2) / max(sample.length, 1)
        for group in groups
        for sample in list_present(group)
    ]
    return -torch.stack(terms).sum() / len(terms)


def dr_grpo(groups: Sequence[Sequence[Sample]], length: int) -> Number:
    """The mean over rollouts of the sum over tokens, over a fixed length; no division by the deviation."""
    terms = [
        sum_tokens(sample, advantage_of(sample.reward or 0.0, rewards_of(group), False), 0.2, 0.2) / length
        for group in groups
        for sample in list_present(group)
    ]
    return -torch.stack(terms).sum() / len(terms)


def mean_only_kl(groups: Sequence[Sequence[Sample]], beta: float) -> Number:
    """MDR Eq. 2, 3, with the ratio for log-probabilities off the policy, and an estimate of the KL under the ratio."""
    divergence = torch.zeros((), dtype=torch.float64)
    count = 0
    for group in groups:
        for sample in list_present(group):
            count += 1
            for row in sample.rows:
                for token, now in enumerate(row.now):
                    odds = torch.exp(row.reference[token] - now)
                    estimate = odds - 1 - torch.log(odds)
                    divergence = divergence + truncate(row, token) * torch.exp(now - row.old[token]) * estimate
    return dr_grpo(groups, 1) + beta * divergence / count


def dapo(groups: Sequence[Sequence[Sample]]) -> Number:
    """MDR Eq. 13: all tokens weigh the same, bounds .2 and .28, groups of equal rewards are left out."""
    kept = [group for group in groups if find_deviation(rewards_of(group)) > 1e-6]
    total = torch.zeros((), dtype=torch.float64)
    for group in kept:
        for sample in list_present(group):
            advantage = advantage_of(sample.reward or 0.0, rewards_of(group), True)
            total = total + sum_tokens(sample, advantage, 0.2, 0.28)
    return -total / sum(sample.length for group in kept for sample in list_present(group))


def gspo(groups: Sequence[Sequence[Sample]]) -> Number:
    """MDR Eq. 4, 5, for a sampler that is the old policy: one ratio a sequence, the mean of its log-ratios."""
    total, count = torch.zeros((), dtype=torch.float64), 0
    for group in groups:
        for sample in list_present(group):
            count += 1
            advantage = advantage_of(sample.reward or 0.0, rewards_of(group), True)
            for row in sample.rows:
                logs = torch.stack([now - old for now, old in zip(row.now, row.old, strict=True)])
                gain = clip(torch.exp(logs.sum() / len(logs)), advantage, 3e-4, 4e-4)
                total = total + gain * len(logs) / sample.length
    return -total / count


def gspo_by_token(groups: Sequence[Sequence[Sample]]) -> Number:
    """The same in GSPO's form by token, in which each token brings its own factor of correction to its own gradient."""
    total, count = torch.zeros((), dtype=torch.float64), 0
    for group in groups:
        for sample in list_present(group):
            count += 1
            advantage = advantage_of(sample.reward or 0.0, rewards_of(group), True)
            for row in sample.rows:
                ratio = exp(sum(now.item() - old for now, old in zip(row.now, row.old, strict=True)) / len(row.now))
                for token, now in enumerate(row.now):
                    own = ratio * torch.exp(now) / torch.exp(now).detach()
                    total = total + truncate(row, token) * clip(own, advantage, 3e-4, 4e-4) / sample.length
    return -total / count


def step_credit(groups: Sequence[Sequence[Sample]], weight: float) -> Number:
    """GRPO without division by the deviation, each step with an advantage of its own beside the rollout's."""
    total, count = torch.zeros((), dtype=torch.float64), 0
    for group in groups:
        steps = [reward for sample in list_present(group) for reward in sample.steps]
        for sample in list_present(group):
            count += 1
            whole = advantage_of(sample.reward or 0.0, rewards_of(group), False)
            for row in sample.rows:
                for token, now in enumerate(row.now):
                    own = weight * advantage_of(sample.steps[row.steps[token]], steps, False)
                    gain = clip(torch.exp(now - row.old[token]), whole + own, 0.2, 0.2)
                    total = total + truncate(row, token) * gain / sample.length
    return -total / count


def dpo(pairs: Sequence[tuple[SampledRow, SampledRow]], beta: float, sft_weight: float) -> Number:
    """MDR Eq. 14, and the weighted mean of -log p over the tokens of the better outputs.

    `reference` holds the log-probabilities under the reference.
    """
    terms = []
    for better, worse in pairs:
        margins = [torch.stack(row.now).sum() - sum(row.reference) for row in (better, worse)]
        terms.append(torch.log(1 + torch.exp(-beta * (margins[0] - margins[1]))))
    better_tokens = torch.stack([token for better, _ in pairs for token in better.now])
    return torch.stack(terms).sum() / len(terms) - sft_weight * better_tokens.sum() / len(better_tokens)
