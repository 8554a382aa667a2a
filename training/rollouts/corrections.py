"""Corrections: what is sampled by one program is trained in another, whose probabilities differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import torch

from training.rollouts.objectives import Level


@dataclass(frozen=True, slots=True)
class Correction:
    """The bounds of the importance ratio of the trainer's policy to the sampler's, and what it is taken of.

    Raises:
        ValueError: the bounds leave out 1, where both agree.
    """

    level: Level = Level.TOKEN
    lowest: float = 0.0
    highest: float = 2.0

    def __post_init__(self) -> None:
        """Refuse bounds that would change what needs no correction."""
        if not 0 <= self.lowest <= 1 <= self.highest:
            raise ValueError(f"the bounds must hold 1: {self.lowest} to {self.highest}")


def correct_sampler(
    correction: Correction, trained: torch.Tensor, sampler: torch.Tensor, sampled: torch.Tensor
) -> tuple[torch.Tensor, dict[str, float]]:
    """Return a factor for each token, truncated to the bounds, and what is logged of it.

    The ratio is pi_old / mu: the trainer's probability over the sampler's, for the weights that sampled. At token level it is
    each token's own; at sequence level it is the product over the row. All tensors are (B, T); log-probabilities are natural.
    Where nothing is sampled the factor is 1.
    """
    gap = (trained - sampler) * sampled
    log_ratio = gap if correction.level is Level.TOKEN else gap.sum(dim=1, keepdim=True).expand_as(gap)
    ratio = (log_ratio * sampled).exp()
    factor = ratio.clamp(correction.lowest, correction.highest)
    return factor, _describe_correction(gap, ratio, factor, sampled.bool())


def join_descriptions(described: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return what is logged of several groups as of one: the largest of what ends in `max`, the least of `min`, else the mean."""
    joins = {"max": max, "min": min}
    names = dict.fromkeys(name for each in described for name in each)
    return {name: joins.get(name.rpartition("_")[2], fmean)([each[name] for each in described if name in each]) for name in names}


def _describe_correction(gap: torch.Tensor, ratio: torch.Tensor, factor: torch.Tensor, sampled: torch.Tensor) -> dict[str, float]:
    if not sampled.any():
        return {}
    return {
        "correction/gap_mean": gap[sampled].abs().mean().item(),
        "correction/gap_max": gap[sampled].abs().max().item(),
        "correction/ratio_min": ratio[sampled].min().item(),
        "correction/ratio_max": ratio[sampled].max().item(),
        "correction/truncated_share": (ratio != factor)[sampled].double().mean().item(),
    }
