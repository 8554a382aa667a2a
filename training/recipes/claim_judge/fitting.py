"""Fits the head on encoded pairs: cross-entropy over the three classes, AdamW, a cosine schedule. A cut fit goes on."""

import math
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from training.recipes.claim_judge.config import HeadSection
from training.recipes.claim_judge.data import Example
from training.recipes.claim_judge.head import JudgeHead, PairBatch
from training.recipes.config import OptimizerSection
from workflows.judging.pair_encoder import EncodedPair, States

WARM_UP = 60
SORTED_TOGETHER = 16
"""In batches: so many are drawn at once and sorted by length, so that little is padded."""
BASIS_PAIRS, BASIS_STRIDE = 1_500, 3
SMOOTHING, LARGEST_NORM, LOWEST_RATE = 0.03, 1.0, 0.01
Floats = NDArray[np.float32]


class FitKeeper(Protocol):
    """Keeps how far a fit is."""

    def restore(self, head: JudgeHead, optimizer: torch.optim.Optimizer) -> int:
        """Put both, and the draws of torch, as they were; return the steps that were made."""
        ...

    def keep(self, step: int, loss: float, head: JudgeHead, optimizer: torch.optim.Optimizer) -> None:
        """Keep a step that was made."""
        ...


def fit_head(
    examples: Sequence[Example], shape: HeadSection, settings: OptimizerSection, seed: int, keeper: FitKeeper
) -> JudgeHead:
    """Fit a head, from the step on at which the fit was cut off."""
    torch.manual_seed(seed)
    head = JudgeHead(examples[0].pair.claim_states.shape[1], shape.size, shape.width, shape.dropout)
    head.start_projection(*_find_axes(examples, shape.size, random.Random(seed)))
    optimizer = torch.optim.AdamW(head.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
    loss = nn.CrossEntropyLoss(label_smoothing=SMOOTHING)
    total = math.ceil(settings.epochs * len(examples) / settings.batch_size)
    made = keeper.restore(head, optimizer)
    batches = islice(_draw_batches(examples, settings.batch_size, random.Random(seed)), made, None)
    for step, batch in zip(range(made, total), batches, strict=False):
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * _rate_at(step, total)
        value = loss(head(pad_batch([each.pair for each in batch])), torch.tensor([each.label for each in batch]))
        value.backward()
        nn.utils.clip_grad_norm_(head.parameters(), LARGEST_NORM)
        optimizer.step()
        optimizer.zero_grad()
        keeper.keep(step + 1, value.item(), head, optimizer)
    head.eval()
    return head


def pad_batch(pairs: Sequence[EncodedPair]) -> PairBatch:
    """Return the pairs as one batch."""
    claim, claim_ids = _pad([pair.claim_states for pair in pairs], [pair.claim for pair in pairs], -1)
    evidence, evidence_ids = _pad([pair.evidence_states for pair in pairs], [pair.evidence for pair in pairs], -2)
    same = claim_ids[:, :, None] == evidence_ids[:, None, :]
    return PairBatch(claim, evidence, claim_ids >= 0, evidence_ids >= 0, same)


def _pad(states: Sequence[States], ids: Sequence[NDArray[np.int64]], filling: int) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(map(len, ids))
    vectors = np.zeros((len(ids), longest, states[0].shape[1]), np.float32)
    tokens = np.full((len(ids), longest), filling, np.int64)
    for row, (own, numbers) in enumerate(zip(states, ids, strict=True)):
        vectors[row, : len(numbers)], tokens[row, : len(numbers)] = own, numbers
    return torch.from_numpy(vectors), torch.from_numpy(tokens)


def _draw_batches(examples: Sequence[Example], size: int, draw: random.Random) -> Iterator[Sequence[Example]]:
    """Yield batches without end, each of examples of about one length."""
    while True:
        order = draw.sample(range(len(examples)), len(examples))
        for start in range(0, len(order), size * SORTED_TOGETHER):
            block = sorted(order[start : start + size * SORTED_TOGETHER], key=lambda i: _measure_length(examples[i]))
            batches = [block[at : at + size] for at in range(0, len(block), size)]
            for batch in draw.sample(batches, len(batches)):
                yield [examples[i] for i in batch]


def _measure_length(example: Example) -> int:
    return len(example.pair.claim) + len(example.pair.evidence)


def _rate_at(step: int, total: int) -> float:
    return min(1.0, (step + 1) / WARM_UP) * (0.5 * (1 + math.cos(math.pi * step / total)) + LOWEST_RATE)


def _find_axes(examples: Sequence[Example], size: int, draw: random.Random) -> tuple[Floats, Floats]:
    """Return the principal axes of the evidence's vectors, scaled to unit variance on average, and their mean."""
    drawn = draw.sample(range(len(examples)), min(BASIS_PAIRS, len(examples)))
    vectors = np.concatenate([examples[i].pair.evidence_states[::BASIS_STRIDE] for i in drawn]).astype(np.float32)
    mean = vectors.mean(axis=0)
    spread, axes = np.linalg.eigh(np.cov((vectors - mean).T))
    basis = axes[:, ::-1][:, :size].T / np.sqrt(spread[::-1][:size].mean())
    return basis.astype(np.float32), mean.astype(np.float32)
