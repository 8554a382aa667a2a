"""Objectives: what the trainer maximises, and the published algorithms by name."""

from dataclasses import dataclass
from enum import StrEnum


class Scale(StrEnum):
    """The divisor of an advantage: the spread of its group's rewards, or nothing."""

    GROUP = "group"
    NONE = "none"


class Level(StrEnum):
    """What a ratio of probabilities is taken of: each token, or a whole row."""

    TOKEN = "token"
    SEQUENCE = "sequence"


class Average(StrEnum):
    """What all weigh the same: rollouts, tokens, or tokens over a fixed length that no rollout changes."""

    ROLLOUT = "rollout"
    TOKEN = "token"
    LENGTH = "length"


@dataclass(frozen=True, slots=True)
class Objective:
    """One policy-gradient objective. `training.rollouts.losses` has its formula.

    `length` is the fixed length, in tokens, of `Average.LENGTH`. `clip_low` and `clip_high` bound the ratio to 1 - low and
    1 + high. `kl_weight` is beta. `step_weight` weighs the advantage of a step's own reward, beside the rollout's.
    `drop_capped` takes capped rollouts out of the gradient, not out of the baseline.

    Raises:
        ValueError: a bound, weight or length is out of its range.
    """

    scale: Scale = Scale.GROUP
    ratio: Level = Level.TOKEN
    average: Average = Average.ROLLOUT
    length: int = 1
    clip_low: float = 0.2
    clip_high: float = 0.2
    kl_weight: float = 0.0
    step_weight: float = 0.0
    drop_capped: bool = False

    def __post_init__(self) -> None:
        """Refuse values that have no meaning."""
        if not 0 <= self.clip_low <= 1 or self.clip_high < 0:
            raise ValueError(f"clip_low is from 0 to 1 and clip_high at least 0: {self.clip_low}, {self.clip_high}")
        if min(self.kl_weight, self.step_weight) < 0 or self.length < 1:
            raise ValueError(f"weights are at least 0 and length at least 1: {self}")


GRPO = Objective()
"""GRPO: each rollout weighs the same, advantages over the group's spread, without KL."""

DR_GRPO = Objective(scale=Scale.NONE, average=Average.LENGTH)
"""Dr.GRPO: no division by the spread, nor by a rollout's own length; set `length` to the longest."""

MEAN_ONLY_KL = Objective(scale=Scale.NONE, average=Average.LENGTH, kl_weight=0.001)
"""MDR Eq. 2, 3: advantage over the group's mean only, KL to the policy of SFT. `length` only scales the learning rate."""

DAPO = Objective(average=Average.TOKEN, clip_high=0.28)
"""DAPO (MDR 5.3, Eq. 13): clip-higher, each token weighs the same, no KL. Its filter of groups is `DAPO_LEAST_SPREAD`."""

DAPO_LEAST_SPREAD = 1e-6
"""Groups whose rewards have a lower standard deviation teach nothing: the collector samples others (MDR 5.3)."""

GSPO = Objective(ratio=Level.SEQUENCE, clip_low=3e-4, clip_high=4e-4)
"""GSPO (MDR Eq. 4, 5): one ratio a sequence, normalised by its length; the bounds are those of the GSPO paper."""
