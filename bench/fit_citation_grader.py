"""`python -m bench.fit_citation_grader --home DIR`: fit the offline grader on the human labels and write its weights.

Two logistic models in four forms (with vectors and without, with what the learned judge reads and without), ridge-penalised. The
penalty is chosen by cross-validation inside the given rows, so that held-out rows may be used to measure. The limit of what has
no support comes from out-of-fold probabilities.
"""

import argparse
import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bench.citation_labels import SHIPPED_LABELS, LabelledClaim, assign_folds, encode_rows, load_labels
from bench.pair_readings import PairReadings
from retrieval.encoding.encoder import EncoderBackend, open_encoder
from workflows.checks import grading
from workflows.checks.grading import EXCERPT, PAGE, Evidence, extent_of, grader_of, measure_signals
from workflows.checks.nearness import TextVectors
from workflows.checks.overlap import measure_coverage
from workflows.checks.rarity import WordRarity
from workflows.checks.reading import read_sentence

Matrix: TypeAlias = NDArray[np.float64]
WEIGHTS = Path(grading.__file__).with_name("grader.json")
PENALTIES = (10.0, 40.0, 100.0, 300.0)
INNER_FOLDS = 4
SEED = 20
RARE_BELOW = 4
"""A stem in fewer documents is not listed; it weighs as if it were in one."""
DECIMALS = 4
SURE_NONE = 0.95
"""The share of claims below the limit that people graded as without support, on excerpts."""
EXCERPT_SENTENCES = 2

SUPPORT = (
    "best",
    "top",
    "all",
    "title",
    "similar",
    "rarest",
    "missing",
    "missing_count",
    "pairs",
    "in_order",
    "halves",
    "frequency",
    "numbers_missing",
    "names_missing",
    "claim_length",
    "evidence_length",
)
ADDED = (PAGE, EXCERPT)
NEAR = ("vector_nearest", "vector_near", "vector_title", "vector_whole", "vector_both")
OPPOSITION = ("direction", "strength", "denial", "parity", "nearby", "order")
READ = ("read_stated", "read_opposed")


class GraderTask(NamedTuple):
    """What one model learns: from which features and rows, which rows are positive, and whether extents get additions."""

    features: tuple[str, ...]
    seen: Callable[[LabelledClaim], bool]
    positive: Callable[[LabelledClaim], bool]
    by_extent: bool


def make_tasks(near: tuple[str, ...], read: tuple[str, ...]) -> Mapping[str, GraderTask]:
    """Return the two models of a form."""
    return {
        "support": GraderTask(
            SUPPORT + near + read, lambda row: row.label != "contradict", lambda row: row.label == "full", True
        ),
        "opposition": GraderTask(
            OPPOSITION + read,
            lambda row: row.source == "scifact" and row.label in ("full", "contradict"),
            lambda row: row.label == "contradict",
            False,
        ),
    }


def fit_grader(rows: Sequence[LabelledClaim], vectors: TextVectors, readings: PairReadings) -> dict[str, Any]:
    """Fit grader.json's content on these rows alone. Without vectors, or without a learned judge, forms are those without."""
    counts = Counter(
        stem for row in rows for stem in frozenset().union(*(read_sentence(s).stem_set for s in row.evidence.sentences))
    )
    listed = {stem: count for stem, count in sorted(counts.items()) if count >= RARE_BELOW}
    rarity = WordRarity(len(rows), listed)
    rows = [*rows, *(cut_excerpt(row, rarity) for row in rows if len(row.evidence.sentences) <= grading.LONGEST_PASSAGE)]
    read = [readings.read(row) for row in rows]
    judged = READ if all(read) else ()
    forms: dict[str, Any] = {}
    for name, near in {"words": (), "vectors": NEAR if vectors else ()}.items():
        signals = [
            measure_signals(row.claim, row.evidence, rarity, vectors if near else None, reading)
            for row, reading in zip(rows, read, strict=True)
        ]
        forms |= {
            name: _fit_form(rows, signals, make_tasks(near, ())),
            f"{name}_read": _fit_form(rows, signals, make_tasks(near, judged)),
        }
    return {"documents": rarity.documents, "forms": forms, "counts": listed}


def cut_excerpt(row: LabelledClaim, rarity: WordRarity) -> LabelledClaim:
    """Return the row with only those sentences that share most words with the claim, as reports quote evidence."""
    sentences = row.evidence.sentences
    order = measure_coverage(read_sentence(row.claim), [read_sentence(text) for text in sentences], rarity).order
    chosen = [sentences[i] for i in sorted(order[:EXCERPT_SENTENCES])]
    return row._replace(evidence=Evidence(row.evidence.title, chosen))


def _fit_form(
    rows: Sequence[LabelledClaim], signals: Sequence[Mapping[str, float]], tasks: Mapping[str, GraderTask]
) -> dict[str, Any]:
    models, held_out = dict[str, Any](), dict[str, Matrix]()
    for name, task in tasks.items():
        places = [i for i, row in enumerate(rows) if task.seen(row)]
        features = build_matrix(task, [signals[i] for i in places])
        truth = np.array([float(task.positive(rows[i])) for i in places])
        inner = np.array(assign_folds([rows[i] for i in places], INNER_FOLDS, SEED))
        scores = {penalty: _score_out_of_fold(features, truth, inner, penalty) for penalty in PENALTIES}
        best = max(PENALTIES, key=lambda penalty: measure_auroc(scores[penalty][truth == 1], scores[penalty][truth == 0]))
        models[name] = _name_weights(task, fit_logistic(features, truth, best)) | {"penalty": best}
        held_out[name] = _probability_of(scores[best])
    return models | {"limits": _find_limits(rows, signals, tasks, held_out)}


def build_matrix(task: GraderTask, signals: Sequence[Mapping[str, float]]) -> Matrix:
    """Return one row a pair; for each extent with additions, the features and a one again (zeros for another extent)."""
    values = np.array([[row[name] for name in task.features] for row in signals])
    if not task.by_extent:
        return values
    blocks = [values]
    for extent in ADDED:
        is_it = np.array([[float(extent_of(row) == extent)] for row in signals])
        blocks += [values * is_it, is_it]
    return np.hstack(blocks)


def fit_logistic(features: Matrix, truth: Matrix, penalty: float, steps: int = 40) -> Matrix:
    """Fit a ridge logistic regression by Newton's method on standardised features; return raw weights, the bias last."""
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    design = np.hstack([(features - mean) / spread, np.ones((len(features), 1))])
    ridge = np.append(np.full(features.shape[1], penalty), 1e-6)
    weights = np.zeros(design.shape[1])
    for _ in range(steps):
        chance = _probability_of(design @ weights)
        slope = design.T @ (chance - truth) + ridge * weights
        curve = (design * (chance * (1 - chance))[:, None]).T @ design + np.diag(ridge)
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-8:
            break
    raw = weights[:-1] / spread
    return np.append(raw, weights[-1] - raw @ mean)


def _score_out_of_fold(features: Matrix, truth: Matrix, fold: Matrix, penalty: float) -> Matrix:
    scores = np.zeros(len(truth))
    for held in np.unique(fold):
        weights = fit_logistic(features[fold != held], truth[fold != held], penalty)
        scores[fold == held] = features[fold == held] @ weights[:-1] + weights[-1]
    return scores


def _probability_of(scores: Matrix) -> Matrix:
    chance: Matrix = 1 / (1 + np.exp(-np.clip(scores, -30, 30)))
    return chance


def measure_auroc(positive: Sequence[float] | Matrix, negative: Sequence[float] | Matrix) -> float:
    """Return the chance that a positive scores above a negative, ties counting half."""
    ranked = np.sort(np.asarray(negative))
    below = np.searchsorted(ranked, positive, "left") + np.searchsorted(ranked, positive, "right")
    return float(below.sum() / 2 / len(positive) / len(ranked))


def _name_weights(task: GraderTask, weights: Matrix) -> dict[str, Any]:
    width = len(task.features)
    named = dict(zip(task.features, weights[:width], strict=True)) | {"": weights[-1]}
    blocks = weights[width:-1].reshape(-1, width + 1)
    added = {extent: dict(zip((*task.features, ""), block, strict=True)) for extent, block in zip(ADDED, blocks, strict=False)}
    return {"weights": _round_values(named), "added": {extent: _round_values(block) for extent, block in added.items()}}


def _round_values(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(float(value), DECIMALS) for name, value in values.items()}


def _find_limits(
    rows: Sequence[LabelledClaim],
    signals: Sequence[Mapping[str, float]],
    models: Mapping[str, GraderTask],
    held_out: Mapping[str, Matrix],
) -> dict[str, float]:
    """Find the probability below which a claim has no support. It comes from excerpts alone, since reports cite excerpts."""
    supported, labels = _select_excerpts(rows, signals, models["support"], held_out["support"])
    return _round_values({"none": -_find_cut(-supported, labels == "none", SURE_NONE)})


def _select_excerpts(
    rows: Sequence[LabelledClaim], signals: Sequence[Mapping[str, float]], task: GraderTask, chances: Matrix
) -> tuple[Matrix, NDArray[np.str_]]:
    seen = [i for i, row in enumerate(rows) if task.seen(row)]
    short = np.array([extent_of(signals[i]) == EXCERPT for i in seen])
    return chances[short], np.array([rows[i].label for i in seen])[short]


def _find_cut(scores: Matrix, wanted: NDArray[np.bool_], share: float) -> float:
    """Return the lowest limit from which this share is as wanted."""
    candidates = np.quantile(scores, np.linspace(0.02, 0.98, 97))
    return float(min((cut for cut in candidates if wanted[scores >= cut].mean() >= share), default=candidates[-1]))


def main() -> None:
    """Fit on all labels and write grader.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True, help="where vectors and the encoder's weights are kept")
    home = parser.parse_args().home
    rows = load_labels(SHIPPED_LABELS)
    models = os.environ.get("RUBRICA_MODELS_DIR")
    encoder = open_encoder(EncoderBackend.ONNX, Path(models) if models else None, home / "models")
    blank = grader_of({"documents": 1, "counts": {}, "forms": {"words": BLANK}})
    weights = fit_grader(rows, encode_rows(rows, blank, encoder, home / "citation_vectors.npz"), PairReadings())
    WEIGHTS.write_text(json.dumps(weights, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{WEIGHTS.name}: {len(rows)} labels, {len(weights['counts'])} stems, limits {weights['forms']['vectors']['limits']}")


BLANK = {
    "support": {"weights": {}, "added": {}},
    "opposition": {"weights": {}, "added": {}},
    "limits": {"none": 0.5},
}

if __name__ == "__main__":
    main()
