"""Exports the head to ONNX with 8-bit weights, for one pair at a time."""

from pathlib import Path

import torch
from torch import Tensor, nn

from retrieval.encoding.onnx_conversion import quantize
from training.recipes.claim_judge.head import JudgeHead, PairBatch
from workflows.judging.pair_reader import INPUTS

OPSET = 17
EXAMPLE = (7, 9)
"""The lengths of the pair by which the graph is drawn; it takes pairs of any lengths."""


class _OnePair(nn.Module):  # type: ignore[misc]
    """The head without masks: nothing is padded in a single pair."""

    def __init__(self, head: JudgeHead) -> None:
        super().__init__()
        self.head = head

    def forward(self, claim: Tensor, evidence: Tensor, claim_ids: Tensor, evidence_ids: Tensor) -> Tensor:
        same = claim_ids[:, :, None] == evidence_ids[:, None, :]
        scores: Tensor = self.head(PairBatch(claim, evidence, claim_ids >= 0, evidence_ids >= 0, same))
        return scores


def export_head(head: JudgeHead, target: Path) -> None:
    """Write the head to `target`, its matrices in 8 bits. Inputs are named as `PairReader` feeds them."""
    floats = target.with_suffix(".floats")
    size = head.projection.in_features
    example = (
        *(torch.zeros(1, length, size) for length in EXAMPLE),
        *(torch.zeros(1, length, dtype=torch.int64) for length in EXAMPLE),
    )
    torch.onnx.export(
        _OnePair(head.eval()),
        example,
        str(floats),
        dynamo=False,
        opset_version=OPSET,
        input_names=list(INPUTS),
        output_names=["scores"],
        dynamic_axes={name: {1: name.partition("_")[0]} for name in INPUTS},
    )
    quantize(floats, target)
    floats.unlink()
