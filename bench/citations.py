"""`python -m bench.citations --home DIR`: measure how well the offline grader tells supported claims from others (AUROC).

Without `--labels` it cross-validates on the human labels: the whole grader is fitted anew without the rows held out. The figures
are means over several ways to cut the folds, and the spread is printed. A learned judge saw none of them.
`*_precision` says how often people agree with a verdict on an excerpt, as reports quote it. `--labels F` scores an unseen file of
this form with the grader as shipped. Further lines give the figures of the form without an encoder, those by rules alone, and
those of the claim alone, for which the evidence is not read at all.
"""

import argparse
import os
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from app.domain.claims import Support
from app.domain.errors import SetupError
from bench.citation_labels import SHIPPED_LABELS, LabelledClaim, assign_folds, encode_rows, load_labels
from bench.fit_citation_grader import cut_excerpt, fit_grader, measure_auroc
from bench.pair_readings import PairReadings
from bench.result import print_result, print_skipped
from retrieval.encoding.encoder import Encoder, EncoderBackend, open_encoder
from workflows.checks.full_support import load_support_trees, trees_of
from workflows.checks.grading import ClaimGrade, Grader, grader_of, load_grader
from workflows.checks.nearness import TextVectors
from workflows.checks.reading import read_sentence

FOLDS = 5
SEEDS = 5
FIGURES = ("wice_full_auroc", "scifact_none_auroc", "scifact_contradict_auroc")
PRECISIONS = {
    "full_precision": (Support.FULL, ("full",)),
    "none_precision": (Support.NONE, ("none",)),
    "warned_not_full": (Support.NONE, ("none", "partial", "contradict")),
    "contradicted_precision": (Support.CONTRADICTED, ("contradict",)),
}


class GradedRow(NamedTuple):
    """A row with its grade."""

    row: LabelledClaim
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
        return print_skipped("citations", f"there are no labels at {labels.name}")
    if options.labels is None and find_spec("sklearn") is None:
        return print_skipped("citations", "trees are fitted anew for each fold by scikit-learn, which `make extras` installs")
    rows = load_labels(labels)
    vectors = _encode_labels(rows, options.home)
    readings = PairReadings()
    if options.labels:
        figures = figures_of(grade_rows(rows, load_grader(), vectors, readings))
        _print_figures("shipped grader", figures, {})
        _print_figures("without an encoder", figures_of(grade_rows(rows, load_grader(), {}, readings)), {})
        _print_figures("by rules alone", figures_of(grade_rows(rows, load_grader(), {})), {})
        _print_cost(rows)
    else:
        figures = cross_validate(rows, vectors, readings, options.seeds)
        _print_figures("claim alone, evidence not read", {FIGURES[2]: _measure_claim_alone(rows)}, {})
    return print_result("citations", figures)


def _encode_labels(rows: Sequence[LabelledClaim], home: Path) -> TextVectors:
    """Return the vectors that the grader needs; none where there is no encoder."""
    models = os.environ.get("RUBRICA_MODELS_DIR")
    try:
        encoder: Encoder = open_encoder(EncoderBackend.ONNX, Path(models) if models else None, home / "models")
    except SetupError as error:
        print(f"without an encoder: {error}")
        return {}
    return encode_rows(rows, load_grader(), encoder, home / "citation_vectors.npz")


def grade_rows(
    rows: Iterable[LabelledClaim], grader: Grader, vectors: TextVectors, readings: PairReadings | None = None
) -> list[GradedRow]:
    """Grade each row; without readings, as the rules alone do."""
    return [
        GradedRow(row, grader.grade(row.claim, row.evidence, vectors, readings.read(row) if readings else None)) for row in rows
    ]


def cross_validate(rows: Sequence[LabelledClaim], vectors: TextVectors, readings: PairReadings, seeds: int) -> dict[str, float]:
    """Return the means over seeds of the figures on held-out rows; print mean and spread for all forms."""
    from bench.fit_full_support import read_graded, read_rows, write_trees  # needs scikit-learn

    others = list(read_rows())
    dense, plain, ruled = list[Mapping[str, float]](), list[Mapping[str, float]](), list[Mapping[str, float]]()
    for seed in range(seeds):
        fold = assign_folds(rows, FOLDS, seed)
        held: dict[str, list[GradedRow]] = {"dense": [], "plain": [], "ruled": [], "excerpts": []}
        for out in range(FOLDS):
            known = [row for row, at in zip(rows, fold, strict=True) if at != out]
            trees = trees_of(write_trees([*others, *read_graded(known)], load_support_trees().full))
            grader = grader_of(fit_grader(known, vectors, readings), trees)
            unseen = [row for row, at in zip(rows, fold, strict=True) if at == out]
            held["dense"] += grade_rows(unseen, grader, vectors, readings)
            held["plain"] += grade_rows(unseen, grader, {}, readings)
            held["ruled"] += grade_rows(unseen, grader, vectors)
            held["excerpts"] += grade_rows([cut_excerpt(row, grader.rarity) for row in unseen], grader, {}, readings)
        dense.append(figures_of(held["dense"]) | _measure_precisions(held["excerpts"]))
        plain.append(figures_of(held["plain"]))
        ruled.append(figures_of(held["ruled"]))
        print(f"seed {seed}: " + "  ".join(f"{name} {value:.3f}" for name, value in dense[-1].items()), flush=True)
    _print_figures("with the encoder" if vectors else "no encoder at hand", _average_figures(dense), _measure_spreads(dense))
    _print_figures("without an encoder", _average_figures(plain), _measure_spreads(plain))
    _print_figures("with the encoder, by rules alone", _average_figures(ruled), _measure_spreads(ruled))
    return {name: _average_figures(dense)[name] for name in (*FIGURES, *PRECISIONS)}


def _measure_precisions(graded: Sequence[GradedRow]) -> dict[str, float]:
    """Return how often people gave a verdict's own label to the claims that got it."""
    found: dict[str, float] = {}
    for name, (verdict, labels) in PRECISIONS.items():
        said = [row.label for row, grade in graded if grade.support is verdict]
        found[name] = sum(label in labels for label in said) / len(said) if said else 1.0
    return found


def figures_of(graded: Sequence[GradedRow]) -> dict[str, float]:
    """Return the figures that these rows allow. Support decides two, opposition the third; `one_score_*` need a single number."""
    full = {source: _select_grades(graded, source, "full") for source in ("wice", "scifact")}
    against = {
        FIGURES[0]: (full["wice"], _select_grades(graded, "wice", "partial", "none"), _support_of),
        FIGURES[1]: (full["scifact"], _select_grades(graded, "scifact", "none"), _support_of),
        FIGURES[2]: (full["scifact"], _select_grades(graded, "scifact", "contradict"), _agreement_of),
        "one_score_wice_full": (full["wice"], _select_grades(graded, "wice", "partial", "none"), _one_score_of),
        "one_score_scifact_none": (full["scifact"], _select_grades(graded, "scifact", "none"), _one_score_of),
        "one_score_scifact_contradict": (full["scifact"], _select_grades(graded, "scifact", "contradict"), _one_score_of),
    }
    return {
        name: measure_auroc([score(g) for g in positive], [score(g) for g in negative])
        for name, (positive, negative, score) in against.items()
        if positive and negative
    }


def _select_grades(graded: Sequence[GradedRow], source: str, *labels: str) -> list[ClaimGrade]:
    return [grade for row, grade in graded if row.source == source and row.label in labels]


def _support_of(grade: ClaimGrade) -> float:
    return grade.supported


def _agreement_of(grade: ClaimGrade) -> float:
    return 1 - grade.opposed


def _one_score_of(grade: ClaimGrade) -> float:
    return grade.supported * (1 - grade.opposed)


def _measure_claim_alone(rows: Sequence[LabelledClaim]) -> float:
    """Measure how far the claim's denials and downward words alone tell contradicted claims from supported ones."""

    def downward(row: LabelledClaim) -> float:
        claim = read_sentence(row.claim)
        return -float(sum(event.sign < 0 for event in claim.events) or (not claim.events and bool(claim.denials)))

    of = {label: [downward(r) for r in rows if (r.source, r.label) == ("scifact", label)] for label in ("full", "contradict")}
    return measure_auroc(of["full"], of["contradict"])


def _print_cost(rows: Sequence[LabelledClaim]) -> None:
    began = time.process_time()
    grade_rows(rows, load_grader(), {}, PairReadings())
    print(f"without an encoder: {1e3 * (time.process_time() - began) / len(rows):.2f} ms of processor time a row")


def _average_figures(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: statistics.fmean(run[name] for run in runs) for name in runs[0]}


def _measure_spreads(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: statistics.pstdev(run[name] for run in runs) for name in runs[0]}


def _print_figures(what: str, figures: Mapping[str, float], spreads: Mapping[str, float]) -> None:
    print(f"{what}:")
    for name, value in figures.items():
        print(f"  {name:30} {value:.3f}" + (f" ± {spreads[name]:.3f}" if name in spreads else ""), flush=True)


if __name__ == "__main__":
    main()
