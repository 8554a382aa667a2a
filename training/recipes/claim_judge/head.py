"""The head of the claim judge: soft alignment of two texts, comparison, aggregation (Parikh et al. 2016; Chen et al. 2017).

Each token of one text is laid beside what the other text has nearest to it. What both sides make of that is compared, also with
its neighbours, and the strongest and the mean finding of each side decide.
"""

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

CLASSES = 3
"""Stated, left open, opposed."""
PLACES = 6
REACH = 5
"""The number of neighbouring tokens that are seen together."""
FAR = -1e4
SHARPNESS, SAME = 8.0, 0.3
STEP, DISTANCE = 3.0, 40.0


class PairBatch(NamedTuple):
    """Vectors (pairs, tokens, size) of claims and evidence, which of them are tokens, and which tokens are the same."""

    claim: Tensor
    evidence: Tensor
    claim_mask: Tensor
    evidence_mask: Tensor
    same: Tensor


class JudgeHead(nn.Module):  # type: ignore[misc]
    """Scores of the three classes for each pair. `basis` (size, states) and `mean` start the projection, as principal axes."""

    def __init__(self, states: int, size: int, width: int, dropout: float) -> None:
        super().__init__()
        self.projection = nn.Linear(states, size)
        self.sharpness = nn.Parameter(torch.tensor(SHARPNESS))
        self.same = nn.Parameter(torch.tensor(SAME))
        self.claim_side = _Side(size, width, dropout)
        self.evidence_side = _Side(size, width, dropout)
        self.joint = nn.Linear(4 * width, width)
        self.scores = nn.Linear(width, CLASSES)
        self.dropout = nn.Dropout(dropout)

    def start_projection(self, basis: NDArray[np.float32], mean: NDArray[np.float32]) -> None:
        """Begin with these axes."""
        with torch.no_grad():
            self.projection.weight.copy_(torch.tensor(basis))
            self.projection.bias.copy_(torch.tensor(-basis @ mean))

    def forward(self, batch: PairBatch) -> Tensor:
        """Return the scores, of shape (pairs, 3)."""
        both = self.projection(self.dropout(torch.cat([batch.claim, batch.evidence], 1)))
        claim, evidence = both[:, : batch.claim.shape[1]], both[:, batch.claim.shape[1] :]
        near = F.normalize(claim, dim=-1) @ F.normalize(evidence, dim=-1).transpose(1, 2)
        near = self.sharpness * (near + self.same * batch.same.to(near.dtype))
        found = [
            *self.claim_side(claim, evidence, near, batch.claim_mask, batch.evidence_mask, batch.same),
            *self.evidence_side(
                evidence, claim, near.transpose(1, 2), batch.evidence_mask, batch.claim_mask, batch.same.transpose(1, 2)
            ),
        ]
        joint = F.gelu(self.joint(self.dropout(torch.cat(found, -1))[:, None]))
        scores: Tensor = self.scores(joint)[:, 0]
        return scores


class _Side(nn.Module):  # type: ignore[misc]
    """What the tokens of one text find in the other: the strongest finding and the mean, each (pairs, width)."""

    def __init__(self, size: int, width: int, dropout: float) -> None:
        super().__init__()
        self.compare = nn.Linear(4 * size + PLACES, width)
        self.beside = nn.Linear(REACH * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, own: Tensor, other: Tensor, near: Tensor, mask: Tensor, seen: Tensor, same: Tensor
    ) -> tuple[Tensor, Tensor]:
        near = near.masked_fill(~seen[:, None, :], FAR)
        shares = near.softmax(-1)
        found = shares @ other
        compared = torch.cat([own, found, (own - found).abs(), own * found, _describe_places(near, shares, same)], -1)
        kept = mask[..., None].to(own.dtype)
        values = F.gelu(self.compare(self.dropout(compared))) * kept
        values = (values + F.gelu(self.beside(_join_neighbours(values)))) * kept
        strongest = values.masked_fill(~mask[..., None], FAR).amax(1)
        return strongest, values.sum(1) / kept.sum(1)


def _describe_places(near: Tensor, shares: Tensor, same: Tensor) -> Tensor:
    """Return, for each token, how surely it was found, and where beside the places of its neighbours."""
    numbers = torch.ones_like(shares[0, 0]).cumsum(0) - 1
    place = shares @ numbers
    step = place[:, 1:] - place[:, :-1]
    return torch.stack(
        [
            near.amax(-1) / SHARPNESS,
            same.to(near.dtype).amax(-1),
            shares.amax(-1),
            torch.tanh((F.pad(step, (1, 0), value=1.0) - 1) / STEP),
            torch.tanh((F.pad(step, (0, 1), value=1.0) - 1) / STEP),
            torch.tanh(place / DISTANCE),
        ],
        -1,
    )


def _join_neighbours(values: Tensor) -> Tensor:
    """Return each token's values beside those of its neighbours; zeros beyond the ends."""
    half = REACH // 2
    padded = F.pad(values, (0, 0, half, half))
    length = values.shape[1]
    return torch.cat([padded[:, place : place + length] for place in range(REACH)], -1)
