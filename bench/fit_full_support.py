"""`python -m bench.fit_full_support`: fit the trees that call a claim fully supported, and write full_support.json.

They learn from claims written by hand (bench/labels/claims, and bench/labels/false_support), from claims that people graded
against excerpts, and, with a tenth of the weight, from generated ones and from claims beside a passage of another document; of
written and generated ones only the half to build on. The limit of full support comes from predictions for documents that the
trees did not see: MOST_FALSE of the false claims that were written lie above it.
Needs scikit-learn, which comes with the extra `torch`.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier

from bench.citation_labels import SHIPPED_LABELS, LabelledClaim, cut_excerpt, load_labels
from bench.claim_pairs.generate import generate_pairs
from bench.claim_pairs.pairs import BUILD, ClaimPair, read_pairs
from bench.false_support import EACH, LABELS, read_texts
from bench.written_claims import read_written_claims
from workflows.checks import full_support
from workflows.checks.grading import Evidence, measure_claim

WEIGHTS = Path(full_support.__file__).with_name("full_support.json")
FOLDS, SEED, DECIMALS = 6, 20, 4
LIGHT = 0.1
GRADED = "graded "
MOST_FALSE = 0.1
DOUBTED, WARNED = 0.3, 0.2
"""The chances of full support below which a difference of words is named, and below which a reader may be warned of it."""
Matrix = NDArray[np.float64]


class FittingRow(NamedTuple):
    """What the trees read in a pair, whether its evidence states the claim, its document, and its weight."""

    signals: dict[str, float]
    right: bool
    document: str
    weight: float


def read_rows() -> Iterator[FittingRow]:
    """Read all pairs to fit on, but for those that people graded."""
    written = read_written_claims(BUILD) | read_written_claims(f"balanced_{BUILD}")
    for document, pairs in written.items():
        yield from (_read_pair(pair, document, 1.0) for pair in pairs)
    for pairs, others in pairwise(written.values()):
        yield _read_pair(replace(pairs[0], title=others[0].title, evidence=others[0].evidence, right=False), "", LIGHT)
    for pair in read_pairs(LABELS / f"{BUILD}.jsonl"):
        yield _read_pair(pair, pair.title, 1.0)
    for pair in generate_pairs(list(read_texts(BUILD)), EACH):
        yield _read_pair(pair, "", LIGHT)


def read_graded(labels: Sequence[LabelledClaim]) -> Iterator[FittingRow]:
    """Read claims that people graded, each beside an excerpt of its evidence."""
    for label in labels:
        claim = cut_excerpt(label)
        yield FittingRow(measure_claim(claim.claim, claim.evidence)[0], label.label == "full", f"{GRADED}{label.page}", 1.0)


def _read_pair(pair: ClaimPair, document: str, weight: float) -> FittingRow:
    return FittingRow(measure_claim(pair.claim, Evidence(pair.title, pair.evidence))[0], pair.right, document, weight)


def fit_trees(rows: Sequence[FittingRow]) -> GradientBoostingClassifier:
    """Fit small trees, each on a part of the rows."""
    trees = GradientBoostingClassifier(
        n_estimators=150, learning_rate=0.05, max_depth=None, max_leaf_nodes=6, min_samples_leaf=8, subsample=0.7, random_state=0
    )
    return trees.fit(_make_matrix(rows), [row.right for row in rows], sample_weight=[row.weight for row in rows])


def _make_matrix(rows: Sequence[FittingRow]) -> Matrix:
    return np.array([list(row.signals.values()) for row in rows])


def predict_unseen(rows: Sequence[FittingRow]) -> tuple[list[FittingRow], Matrix]:
    """Predict each row of a document by trees that saw none of that document."""
    documents = sorted({row.document for row in rows if row.document})
    random.Random(SEED).shuffle(documents)
    fold = {document: place % FOLDS for place, document in enumerate(documents)}
    seen, chances = list[FittingRow](), list[Matrix]()
    for held in range(FOLDS):
        kept = [row for row in rows if fold.get(row.document) == held]
        trees = fit_trees([row for row in rows if fold.get(row.document) != held])
        seen += kept
        chances.append(trees.predict_proba(_make_matrix(kept))[:, 1])
    return seen, np.concatenate(chances)


def write_trees(rows: Sequence[FittingRow], full: float) -> dict[str, Any]:
    """Fit on these rows and return full_support.json's content, with this limit of full support."""
    trees = fit_trees(rows)
    prior = trees.init_.class_prior_[1]
    return {
        "features": list(rows[0].signals),
        "bias": round(float(np.log(prior / (1 - prior))), DECIMALS),
        "full": full,
        "doubted": DOUBTED,
        "warned": WARNED,
        "trees": [_write_tree(one.tree_, trees.learning_rate) for one in trees.estimators_[:, 0]],
    }


def _write_tree(tree: Any, rate: float) -> list[list[float]]:
    nodes = list[list[float]]()
    for place in range(tree.node_count):
        lower, upper = int(tree.children_left[place]), int(tree.children_right[place])
        if lower < 0:
            nodes.append([round(float(tree.value[place][0][0]) * rate, DECIMALS)])
        else:
            nodes.append([int(tree.feature[place]), round(float(tree.threshold[place]), DECIMALS), lower, upper])
    return nodes


def main() -> None:
    """Fit, find the limit, and write."""
    rows = [*read_rows(), *read_graded(load_labels(SHIPPED_LABELS))]
    seen, chances = predict_unseen(rows)
    right, graded = (np.array(values) for values in ([r.right for r in seen], [r.document.startswith(GRADED) for r in seen]))
    full = round(float(np.quantile(chances[~right & ~graded], 1 - MOST_FALSE)), DECIMALS)
    said = chances >= full
    print(f"unseen: honest ones called full {said[right & ~graded].mean():.3f} of those written, limit {full}")
    print(
        f"{said[right & graded].mean():.3f} of those graded, where {right[said & graded].mean():.3f} that are called full are so"
    )
    WEIGHTS.write_text(json.dumps(write_trees(rows, full), separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
