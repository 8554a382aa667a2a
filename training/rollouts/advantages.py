"""Advantages: how much better a rollout, or one of its steps, is than its group."""

from collections.abc import Mapping, Sequence
from math import sqrt

from app.domain.missing import Missing
from training.rewards.score import Score, require_present, sum_weighted
from training.rollouts.nouns import Reward
from training.rollouts.objectives import Scale

LEAST_DIVISOR = 1e-4


def read_score(reward: Reward, part_weights: Mapping[str, float] | None) -> Score:
    """Return the reward's value or, with weights, the weighted sum of its parts. NaN and infinity are missing.

    A weighted part that the reward does not have is missing too.
    """
    if part_weights is None:
        score = reward.value
    else:
        lacking = Missing("the reward has no such part")
        score = sum_weighted((weight, reward.parts.get(name, lacking)) for name, weight in part_weights.items())
    present = require_present([score])
    return present if isinstance(present, Missing) else present[0]


def list_present(scores: Sequence[Score]) -> list[float]:
    """Return the scores that are not missing."""
    return [score for score in scores if not isinstance(score, Missing)]


def measure_spread(values: Sequence[float]) -> float:
    """Return the sample standard deviation; 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    mean = sum(values) / len(values)
    return sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def compute_advantages(scores: Sequence[Score], scale: Scale) -> list[float | None]:
    """Return each rollout's advantage: its score less the group's mean, over the group's spread if it is scaled.

    A missing score has no advantage (None) and no part in the mean or the spread. To the spread .0001 is added.
    Source: MDR Eq. 2; with the spread, GRPO's outcome supervision.
    """
    present = list_present(scores)
    if not present:
        return [None] * len(scores)
    mean, divisor = sum(present) / len(present), _find_divisor(present, scale)
    return [None if isinstance(score, Missing) else (score - mean) / divisor for score in scores]


def compute_step_advantages(steps: Sequence[Sequence[float]], scale: Scale) -> list[tuple[float, ...]]:
    """Return each step's advantage over all steps of all rollouts of the group, in the shape of `steps`.

    Source: GRPO's process supervision, each step under its own reward (MDR Eq. 6, 7) rather than under those that follow.
    """
    together = [reward for rollout in steps for reward in rollout]
    if not together:
        return [() for _ in steps]
    mean, divisor = sum(together) / len(together), _find_divisor(together, scale)
    return [tuple((reward - mean) / divisor for reward in rollout) for rollout in steps]


def _find_divisor(values: Sequence[float], scale: Scale) -> float:
    return measure_spread(values) + LEAST_DIVISOR if scale is Scale.GROUP else 1.0
