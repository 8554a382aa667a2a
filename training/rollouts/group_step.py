"""An optimizer step whose gradient is added up group by group, while other groups are still sampled."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import torch

from training.rollouts.groups import ScoredGroup
from training.rollouts.weighted_rows import Totals


@dataclass
class GroupStep:
    """What a step has read so far: its groups and rows, their totals, what is logged of their correction, and their loss.

    The totals are known with the last group. Until then loss and gradient are sums, which are divided once.
    """

    groups: list[ScoredGroup] = field(default_factory=list)
    corrections: list[dict[str, float]] = field(default_factory=list)
    totals: Totals = field(default_factory=Totals)
    rows: int = 0
    loss: float = 0.0

    def add_group(self, scored: ScoredGroup, rows: int, totals: Totals, correction: dict[str, float]) -> None:
        """Add a group whose gradient comes next."""
        self.groups.append(scored)
        self.corrections.append(correction)
        self.totals = self.totals + totals
        self.rows += rows


def divide_gradients(weights: Iterable[torch.nn.Parameter], divisor: float) -> None:
    """Divide all gradients in place."""
    for each in weights:
        if each.grad is not None:
            each.grad /= divisor
