"""Batches: weighted rows as padded tensors, and the parts in which a model reads them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import torch

from training.rollouts.weighted_rows import WeightedRow

Batch: TypeAlias = dict[str, torch.Tensor]
IDS = "input_ids"
ATTENTION = "attention_mask"
SHORTEST = 2


def make_batch(
    rows: Sequence[WeightedRow], count: int, divisor: float, pad_id: int, dtype: torch.dtype, device: torch.device
) -> Batch:
    """Return `count` rows as tensors, of which those beyond `rows` have weight zero.

    `input_ids` and `attention_mask` are (B, L), padded on the right. The others are (B, L - 1), one entry for each token but the
    first, which nothing predicts: `sampled`, `advantages`, `weights` (divided by `divisor`) and `sampler_logprobs`. All four
    are 0 where the policy did not sample.
    """
    length = max([len(weighted.row.ids) for weighted in rows], default=SHORTEST)
    batch = _make_empty(count, length, pad_id, dtype)
    for place, weighted in enumerate(rows):
        row, end = weighted.row, len(weighted.row.ids)
        values = {
            "sampled": row.sampled,
            "advantages": weighted.advantages,
            "weights": [weighted.weight / divisor * sampled for sampled in row.sampled],
            "sampler_logprobs": row.logprobs,
        }
        batch[IDS][place, :end] = torch.tensor(row.ids)
        batch[ATTENTION][place, :end] = 1
        for name, value in values.items():
            batch[name][place, : end - 1] = torch.tensor(value[1:], dtype=dtype)
    return {name: tensor.to(device) for name, tensor in batch.items()}


def _make_empty(count: int, length: int, pad_id: int, dtype: torch.dtype) -> Batch:
    # A row that attends to nothing makes NaN in some kernels, which a weight of zero does not undo.
    attention = torch.zeros(count, length, dtype=torch.long)
    attention[:, :SHORTEST] = 1
    by_token = ("sampled", "advantages", "weights", "sampler_logprobs")
    empty = {name: torch.zeros(count, length - 1, dtype=dtype) for name in by_token}
    return {IDS: torch.full((count, length), pad_id), ATTENTION: attention, **empty}


def split_rows(batch: Mapping[str, torch.Tensor], size: int) -> Iterator[Batch]:
    """Yield the batch, so many rows at a time, each part cut to its longest row."""
    for start in range(0, batch[IDS].shape[0], size):
        part = {name: tensor[start : start + size] for name, tensor in batch.items()}
        length = int(part[ATTENTION].sum(dim=1).max())
        yield {name: tensor[:, : length if name in (IDS, ATTENTION) else length - 1] for name, tensor in part.items()}
