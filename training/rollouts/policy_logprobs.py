"""Log-probabilities of sampled tokens under a policy."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from trl.trainer.utils import add_fused_lm_head

from training.rollouts.batches import ATTENTION, IDS, make_batch
from training.rollouts.nouns import TrainingRow
from training.rollouts.weighted_rows import WeightedRow

NOT_SCORED = -100


def compute_logprobs(
    model: torch.nn.Module, batch: Mapping[str, torch.Tensor], temperature: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return natural log-probabilities and entropies, in nats, at `temperature`, both (B, L - 1); 0 where nothing was sampled.

    The temperature must be the sampler's, and the sampler's log-probabilities those after it. The model bears TRL's fused head,
    which never holds all logits at once and computes in float32. Weights in float64 are read through the logits instead.
    """
    sampled = batch["sampled"].bool()
    if next(model.parameters()).dtype is torch.float64:
        return _read_logits(model, batch, temperature, sampled)
    labels = batch[IDS].clone()
    labels[:, 0] = NOT_SCORED
    labels[:, 1:].masked_fill_(~sampled, NOT_SCORED)
    scored = model(input_ids=batch[IDS], attention_mask=batch[ATTENTION], labels=labels, fused_lm_head=True)
    return scored.log_probs, scored.entropy if scored.entropy is not None else torch.zeros_like(scored.log_probs)


def find_largest_gap(model: Any, rows: Iterable[TrainingRow]) -> float:
    """Return the largest difference, in nats, between the rows' log-probabilities and those that the trainer computes.

    The temperature is 1. The model gets TRL's fused head, as the trainer's has.
    """
    add_fused_lm_head(model, temperature=1.0, outputs=("log_probs", "entropy"))
    largest = 0.0
    for row in rows:
        weighted = WeightedRow(row, advantages=(0.0,) * len(row.ids), weight=0.0)
        batch = make_batch([weighted], 1, 1.0, 0, torch.float32, model.device)
        with torch.no_grad():
            gap = (compute_logprobs(model, batch, 1.0)[0] - batch["sampler_logprobs"]) * batch["sampled"]
        largest = max(largest, float(gap.abs().max()))
    return largest


def _read_logits(
    model: torch.nn.Module, batch: Mapping[str, torch.Tensor], temperature: float, sampled: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    logits = model(input_ids=batch[IDS], attention_mask=batch[ATTENTION], use_cache=False).logits
    spread = (logits[:, :-1] / temperature).log_softmax(dim=-1)
    chosen = spread.gather(2, batch[IDS][:, 1:, None]).squeeze(2)
    entropy = -(spread.exp() * spread).sum(dim=-1)
    return chosen.masked_fill(~sampled, 0.0), entropy.masked_fill(~sampled, 0.0)
