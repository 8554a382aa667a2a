"""Whether a claim may be called fully supported: boosted trees over what the vetoes found and which words are shared.

A veto alone decides little: where a claim is worded anew, rules stop honest ones as often as false ones. What a veto means
hangs on the rest: one unknown word in a sentence that is copied otherwise changes its sense, three in one that is worded anew do
not. `python -m bench.fit_full_support` made full_support.json from claims that were written or graded by hand.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp, log
from typing import Any, TypeAlias

from workflows.checks.vetoes.reasons import VetoReason
from workflows.checks.vetoes.veto import VetoFindings

MOST_UNKNOWN, MOST_NAMES, MOST_PARTS = 6, 3, 4
Node: TypeAlias = Sequence[float]
"""An inner node is a feature's number, a limit, and the places of the nodes up to it and above; a leaf is its value."""


@dataclass(frozen=True)
class SupportTrees:
    """Trees whose values add up to log-odds.

    A claim is fully supported from `full` on. Below `doubted` a difference is named, and below `warned` a reader is warned of it.
    """

    features: tuple[str, ...]
    bias: float
    full: float
    doubted: float
    warned: float
    trees: Sequence[Sequence[Node]]

    def probability_of(self, signals: Mapping[str, float]) -> float:
        """Return the probability that the evidence states all of the claim."""
        values = [signals[name] for name in self.features]
        score = self.bias + sum(_follow(tree, values) for tree in self.trees)
        return 1 / (1 + exp(-score))


def _follow(tree: Sequence[Node], values: Sequence[float]) -> float:
    node = tree[0]
    while len(node) > 1:
        feature, limit, lower, upper = node
        node = tree[int(lower if values[int(feature)] <= limit else upper)]
    return node[0]


def measure_support(findings: VetoFindings, chinese: bool) -> dict[str, float]:
    """Return what the trees read of the vetoes' findings, by name."""
    met = {veto.reason for veto in findings.vetoes}
    return {f"veto_{reason.value}": float(reason in met) for reason in VetoReason} | {
        "vetoes": float(len(met)),
        "words": log(1 + findings.words),
        "unknown": findings.unknown / findings.words if findings.words else 1.0,
        "unknown_count": min(findings.unknown, MOST_UNKNOWN) / MOST_UNKNOWN if findings.words else 1.0,
        "unknown_names": min(findings.unknown_names, MOST_NAMES) / MOST_NAMES,
        "parts": min(findings.parts, MOST_PARTS) / MOST_PARTS,
        "chinese": float(chinese),
    }


@cache
def load_support_trees() -> SupportTrees:
    """Load the trees of this package."""
    return trees_of(json.loads(files("workflows.checks").joinpath("full_support.json").read_text(encoding="utf-8")))


def trees_of(fitted: Mapping[str, Any]) -> SupportTrees:
    """Return trees in the format of full_support.json."""
    return SupportTrees(
        tuple(fitted["features"]), fitted["bias"], fitted["full"], fitted["doubted"], fitted["warned"], fitted["trees"]
    )
