"""`python -m bench.citations --home DIR`: measure how well the offline grader tells supported claims from others (AUROC).

Without `--labels` it cross-validates on the human labels: the whole grader is fitted anew without the rows held out. The figures
are means over several ways to cut the folds, and the spread is printed. `--labels F` scores an unseen file of this form with the
grader as shipped. Further lines give the figures of the form without an encoder, and those of the claim alone, for which the
evidence is not read at all.
"""

import argparse
import os
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from app.domain.errors import SetupError
from bench.citation_labels import SHIPPED_LABELS, Labelled, encoded, folds, load
from bench.fit_citation_grader import auroc, fitted
from bench.result import report, skipped
from retrieval.encoding.encoder import Encoder, EncoderBackend, open_encoder
from workflows.checks.grading import ClaimGrade, Grader, grader_of, load_grader
from workflows.checks.nearness import TextVectors
from workflows.checks.reading import read_sentence

FOLDS = 5
SEEDS = 5
FIGURES = ("wice_full_auroc", "scifact_none_auroc", "scifact_contradict_auroc")


class Scored(NamedTuple):
    """A row with its grade."""

    row: Labelled
    grade: ClaimGrade


def main() -> None:
    """Measure and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True, help="where vectors and the encoder's weights are kept")
    parser.add_argument("--labels", type=Path, help="an unseen file, scored with the shipped grader")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many ways to cut the folds")
    options = parser.parse_args()
    labels = options.labels or SHIPPED_LABELS
    if not labels.exists():
        return skipped("citations", f"there are no labels at {labels.name}")
    rows = load(labels)
    vectors = _vectors(rows, options.home)
    if options.labels:
        figures = figures_of(scored(rows, load_grader(), vectors))
        _show("shipped grader", figures, {})
        _show("without an encoder", figures_of(scored(rows, load_grader(), {})), {})
        _cost(rows)
    else:
        figures = cross_validated(rows, vectors, options.seeds)
        _show("claim alone, evidence not read", {FIGURES[2]: _claim_alone(rows)}, {})
    return report("citations", figures)


def _vectors(rows: Sequence[Labelled], home: Path) -> TextVectors:
    """Return the vectors that the grader needs; none where there is no encoder."""
    models = os.environ.get("RUBRICA_MODELS_DIR")
    try:
        encoder: Encoder = open_encoder(EncoderBackend.ONNX, Path(models) if models else None, home / "models")
    except SetupError as error:
        print(f"without an encoder: {error}")
        return {}
    return encoded(rows, load_grader(), encoder, home / "citation_vectors.npz")


def scored(rows: Iterable[Labelled], grader: Grader, vectors: TextVectors) -> list[Scored]:
    """Grade each row."""
    return [Scored(row, grader.grade(row.claim, row.evidence, vectors)) for row in rows]


def cross_validated(rows: Sequence[Labelled], vectors: TextVectors, seeds: int) -> dict[str, float]:
    """Return the means over seeds of the figures on held-out rows; print mean and spread for both forms."""
    dense, plain = list[Mapping[str, float]](), list[Mapping[str, float]]()
    for seed in range(seeds):
        fold = folds(rows, FOLDS, seed)
        held: dict[str, list[Scored]] = {"dense": [], "plain": []}
        for out in range(FOLDS):
            grader = grader_of(fitted([row for row, at in zip(rows, fold, strict=True) if at != out], vectors))
            unseen = [row for row, at in zip(rows, fold, strict=True) if at == out]
            held["dense"] += scored(unseen, grader, vectors)
            held["plain"] += scored(unseen, grader, {})
        dense.append(figures_of(held["dense"]))
        plain.append(figures_of(held["plain"]))
        print(f"seed {seed}: " + "  ".join(f"{name} {value:.3f}" for name, value in dense[-1].items()), flush=True)
    _show("with the encoder" if vectors else "no encoder at hand", _means(dense), _spreads(dense))
    _show("without an encoder", _means(plain), _spreads(plain))
    return {name: _means(dense)[name] for name in FIGURES}


def figures_of(graded: Sequence[Scored]) -> dict[str, float]:
    """Return the figures that these rows allow. Support decides two, opposition the third; `one_score_*` need a single number."""
    full = {source: _of(graded, source, "full") for source in ("wice", "scifact")}
    against = {
        FIGURES[0]: (full["wice"], _of(graded, "wice", "partial", "none"), _support),
        FIGURES[1]: (full["scifact"], _of(graded, "scifact", "none"), _support),
        FIGURES[2]: (full["scifact"], _of(graded, "scifact", "contradict"), _agreement),
        "one_score_wice_full": (full["wice"], _of(graded, "wice", "partial", "none"), _both),
        "one_score_scifact_none": (full["scifact"], _of(graded, "scifact", "none"), _both),
        "one_score_scifact_contradict": (full["scifact"], _of(graded, "scifact", "contradict"), _both),
    }
    return {
        name: auroc([score(g) for g in positive], [score(g) for g in negative])
        for name, (positive, negative, score) in against.items()
        if positive and negative
    }


def _of(graded: Sequence[Scored], source: str, *labels: str) -> list[ClaimGrade]:
    return [grade for row, grade in graded if row.source == source and row.label in labels]


def _support(grade: ClaimGrade) -> float:
    return grade.supported


def _agreement(grade: ClaimGrade) -> float:
    return 1 - grade.opposed


def _both(grade: ClaimGrade) -> float:
    return grade.supported * (1 - grade.opposed)


def _claim_alone(rows: Sequence[Labelled]) -> float:
    """Measure how far the claim's denials and downward words alone tell contradicted claims from supported ones."""

    def downward(row: Labelled) -> float:
        claim = read_sentence(row.claim)
        return -float(sum(event.sign < 0 for event in claim.events) or (not claim.events and bool(claim.denials)))

    of = {label: [downward(r) for r in rows if (r.source, r.label) == ("scifact", label)] for label in ("full", "contradict")}
    return auroc(of["full"], of["contradict"])


def _cost(rows: Sequence[Labelled]) -> None:
    began = time.process_time()
    scored(rows, load_grader(), {})
    print(f"without an encoder: {1e3 * (time.process_time() - began) / len(rows):.2f} ms of processor time a row")


def _means(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: statistics.fmean(run[name] for run in runs) for name in runs[0]}


def _spreads(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: statistics.pstdev(run[name] for run in runs) for name in runs[0]}


def _show(what: str, figures: Mapping[str, float], spreads: Mapping[str, float]) -> None:
    print(f"{what}:")
    for name, value in figures.items():
        print(f"  {name:30} {value:.3f}" + (f" ± {spreads[name]:.3f}" if name in spreads else ""), flush=True)


if __name__ == "__main__":
    main()
