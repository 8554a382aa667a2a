"""The policy-gradient loss of a batch of rows."""

from collections.abc import Mapping

import torch

from training.rollouts.objectives import Level, Objective


def compute_policy_loss(objective: Objective, logprobs: torch.Tensor, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """Return the loss of some rows: the sum over tokens of weight times token loss, a scalar.

    With pi the policy, pi_old the policy that the batch was made for, mu the sampler and pi_ref the reference, a token's loss is

        -c min(r A, clip(r, 1 - low, 1 + high) A) + beta c q k

    where A is the token's advantage, q = pi / pi_old, r is q or, at sequence level, the row's geometric mean of q, c is the
    truncated pi_old / mu, and k = pi_ref / pi - 1 - log(pi_ref / pi). The product q k, unlike k alone, has the gradient of the
    KL(pi || pi_ref) in MDR Eq. 3. Source: MDR Eq. 2 to 5 and 13; GSPO's form by token where steps have advantages of their own.

    `batch` holds `weights`, `advantages`, `sampled`, `correction`, `old_logprobs` and, with KL, `reference_logprobs`, all (B, T).
    The weights already divide by the rollouts or tokens of the whole generation batch. Therefore rows of weight zero, which fill
    the batch so that it can be split, change nothing; and a rollout weighs the same in one row as in many: at sequence level each
    of its rows has its own ratio, and weighs its share of the rollout's tokens.
    """
    log_ratio = (logprobs - batch["old_logprobs"]) * batch["sampled"]
    ratio = log_ratio.exp()
    clipped_on = ratio if objective.ratio is Level.TOKEN else _take_row_ratio(log_ratio, batch["sampled"])
    loss = -_clip_gain(objective, clipped_on, batch["advantages"])
    if objective.kl_weight:
        to_reference = (batch["reference_logprobs"] - logprobs) * batch["sampled"]
        loss = loss + objective.kl_weight * ratio * (to_reference.exp() - 1 - to_reference)
    return (batch["weights"] * batch["correction"] * loss).sum()


def count_clipped(objective: Objective, logprobs: torch.Tensor, batch: Mapping[str, torch.Tensor]) -> tuple[float, float]:
    """Return the numbers of sampled tokens whose gradient the lower and the upper bound take away."""
    log_ratio = (logprobs - batch["old_logprobs"]) * batch["sampled"]
    ratio = log_ratio.exp() if objective.ratio is Level.TOKEN else _take_row_ratio(log_ratio, batch["sampled"])
    low = (ratio < 1 - objective.clip_low) & (batch["advantages"] < 0)
    high = (ratio > 1 + objective.clip_high) & (batch["advantages"] > 0)
    return float(low.sum()), float(high.sum())


def _take_row_ratio(log_ratio: torch.Tensor, sampled: torch.Tensor) -> torch.Tensor:
    """Return the row's geometric mean at each token, with the gradient of that token's own ratio alone (GSPO, by token)."""
    mean = log_ratio.sum(dim=1, keepdim=True) / sampled.sum(dim=1, keepdim=True).clamp(min=1)
    return (mean.detach() + log_ratio - log_ratio.detach()).exp()


def _clip_gain(objective: Objective, ratio: torch.Tensor, advantages: torch.Tensor) -> torch.Tensor:
    clipped = ratio.clamp(1 - objective.clip_low, 1 + objective.clip_high)
    return torch.min(ratio * advantages, clipped * advantages)
