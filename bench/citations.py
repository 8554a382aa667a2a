"""`python -m bench.citations`: measure how well the offline grader tells supported claims from others (AUROC).

It cross-validates on the human labels: the trees are fitted anew without the rows held out. Each claim is graded beside an
excerpt of its evidence, as reports quote it. The figures are means over several ways to cut the folds, and the spread is printed.
`*_precision` says how often people agree with a verdict. `--labels F` scores an unseen file of this form with the trees as
shipped.
"""

import argparse
import statistics
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from app.domain.claims import Support
from bench.citation_labels import SHIPPED_LABELS, LabelledClaim, assign_folds, cut_excerpt, load_labels, measure_auroc
from bench.result import print_result, print_skipped
from workflows.checks.full_support import SupportTrees, load_support_trees, trees_of
from workflows.checks.grading import ClaimGrade, grade_claim

FOLDS = 5
SEEDS = 5
AGAINST = {
    "wice_full_auroc": ("wice", ("partial", "none")),
    "scifact_none_auroc": ("scifact", ("none",)),
    "scifact_contradict_auroc": ("scifact", ("contradict",)),
}
"""The labels that each figure tells from the full ones of its source."""
PRECISIONS = {
    "full_precision": (Support.FULL, ("full",)),
    "partial_precision": (Support.PARTIAL, ("none", "partial", "contradict")),
    "none_precision": (Support.NONE, ("none",)),
    "contradicted_precision": (Support.CONTRADICTED, ("contradict",)),
}


class GradedRow(NamedTuple):
    """A row with its grade."""

    row: LabelledClaim
    grade: ClaimGrade


def main() -> None:
    """Measure and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=Path, help="an unseen file, scored with the shipped trees")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many ways to cut the folds")
    options = parser.parse_args()
    labels = options.labels or SHIPPED_LABELS
    if not labels.exists():
        return print_skipped("citations", f"there are no labels at {labels.name}")
    if options.labels is None and find_spec("sklearn") is None:
        return print_skipped("citations", "trees are fitted anew for each fold by scikit-learn, which `make extras` installs")
    rows = load_labels(labels)
    if options.labels:
        return print_result("citations", figures_of(grade_rows(map(cut_excerpt, rows), load_support_trees())))
    return print_result("citations", cross_validate(rows, options.seeds))


def grade_rows(rows: Iterable[LabelledClaim], trees: SupportTrees) -> list[GradedRow]:
    """Grade each row."""
    return [GradedRow(row, grade_claim(row.claim, row.evidence, trees)) for row in rows]


def cross_validate(rows: Sequence[LabelledClaim], seeds: int) -> dict[str, float]:
    """Return the means over seeds of the figures on held-out rows; print them with their spreads."""
    from bench.fit_full_support import read_graded, read_rows, write_trees  # needs scikit-learn

    others, runs = list(read_rows()), list[Mapping[str, float]]()
    for seed in range(seeds):
        fold = assign_folds(rows, FOLDS, seed)
        graded = list[GradedRow]()
        for out in range(FOLDS):
            known = [row for row, at in zip(rows, fold, strict=True) if at != out]
            trees = trees_of(write_trees([*others, *read_graded(known)], load_support_trees().full))
            graded += grade_rows([cut_excerpt(row) for row, at in zip(rows, fold, strict=True) if at == out], trees)
        runs.append(figures_of(graded) | _measure_precisions(graded))
        print(f"seed {seed}: " + "  ".join(f"{name} {value:.3f}" for name, value in runs[-1].items()), flush=True)
    for name in runs[0]:
        values = [run[name] for run in runs]
        print(f"  {name:30} {statistics.fmean(values):.3f} ± {statistics.pstdev(values):.3f}", flush=True)
    return {name: statistics.fmean(run[name] for run in runs) for name in runs[0]}


def _measure_precisions(graded: Sequence[GradedRow]) -> dict[str, float]:
    """Return how often people gave a verdict's own label to the claims that got it."""
    found: dict[str, float] = {}
    for name, (verdict, labels) in PRECISIONS.items():
        said = [row.label for row, grade in graded if grade.support is verdict]
        found[name] = sum(label in labels for label in said) / len(said) if said else 1.0
    return found


def figures_of(graded: Sequence[GradedRow]) -> dict[str, float]:
    """Return the figures that these rows allow."""
    found: dict[str, float] = {}
    for name, (source, labels) in AGAINST.items():
        positive = [grade.full for row, grade in graded if (row.source, row.label) == (source, "full")]
        negative = [grade.full for row, grade in graded if row.source == source and row.label in labels]
        if positive and negative:
            found[name] = measure_auroc(positive, negative)
    return found


if __name__ == "__main__":
    main()
