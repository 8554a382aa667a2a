"""The error rate of the format that is low enough for reinforcement learning (MDR 5.1, Training Termination Criteria).

Of the G = 8 rollouts of a group at least two have to be valid, with probability at least .95. The paper states .0253, which
is 1 - sqrt(.95): both of *two* rollouts are valid. At least two of *eight* allow .529. Both are here. The paper's number is the
default, because a policy that errs in half of its rollouts wastes half of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb

CONFIDENCE = 0.95
HALVINGS = 60


@dataclass(frozen=True, slots=True)
class ValidRollouts:
    """At least `wanted` of `sampled` rollouts are valid."""

    wanted: int
    sampled: int


RULES: Mapping[str, ValidRollouts] = {"two_of_two": ValidRollouts(2, 2), "two_of_eight": ValidRollouts(2, 8)}


def find_format_limit(rule: ValidRollouts, confidence: float = CONFIDENCE) -> float:
    """Return the highest error rate at which enough rollouts are valid with this probability."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _probability_of(rule, 1.0 - middle) >= confidence else (low, middle)
    return low


def _probability_of(rule: ValidRollouts, valid: float) -> float:
    counts = range(rule.wanted, rule.sampled + 1)
    return sum(comb(rule.sampled, n) * valid**n * (1.0 - valid) ** (rule.sampled - n) for n in counts)
