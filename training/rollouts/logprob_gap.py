"""The difference between the log-probabilities of a sampler and those that a trainer computes from the same rows."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from training.rollouts.nouns import TrainingRow


def score_ids(model: Any, ids: Sequence[int], temperature: float = 1.0) -> list[float]:
    """Return the natural log-probability of each id after the first, given those before it."""
    with torch.no_grad():
        logits = model(torch.tensor([list(ids)], device=model.device)).logits[0, :-1].float() / temperature
    following = torch.tensor(list(ids[1:]), device=logits.device)
    scored: list[float] = torch.log_softmax(logits, -1).gather(1, following[:, None])[:, 0].tolist()
    return scored


def find_largest_gap(model: Any, rows: Iterable[TrainingRow], temperature: float = 1.0) -> float:
    """Return the largest difference over all sampled ids, in nats; 0 where there are none."""
    gaps = [0.0]
    for row in rows:
        told = zip(score_ids(model, row.ids, temperature), row.logprobs[1:], row.sampled[1:], strict=True)
        gaps += [abs(ours - theirs) for ours, theirs, sampled in told if sampled]
    return max(gaps)
