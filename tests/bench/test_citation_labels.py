"""Folds that leak nothing, and figures that mean what they say."""

import gzip
import json
from pathlib import Path

import pytest

from app.domain.claims import Support
from bench.citation_labels import LabelledClaim, assign_folds, load_labels, measure_auroc
from bench.citations import GradedRow, figures_of
from workflows.checks.grading import ClaimGrade, Evidence

SUBJECTS = ("rain", "iron", "wheat", "coal", "silk", "salt", "wool", "gold", "corn", "fish")


def pair(subject: str, label: str, number: int = 0) -> LabelledClaim:
    said = subject if label != "none" else "music"
    claim = f"The {subject} trade {'fell' if label == 'contradict' else 'rose'} in the year {1800 + number}."
    sentences = [
        "Ships came and went.",
        f"The {said} trade rose in the year {1800 + number}.",
        "Towns grew.",
        "Roads were built.",
        "So it was.",
    ]
    return LabelledClaim("scifact", claim, Evidence(f"On {said} and {subject}", sentences), label, f"{subject} {label} {number}")


def pairs() -> list[LabelledClaim]:
    return [pair(subject, label, n) for n in range(6) for subject in SUBJECTS for label in ("full", "none", "contradict")]


def test_rows_that_share_a_claim_a_title_or_a_text_are_in_one_fold() -> None:
    rows = pairs()
    fold = assign_folds(rows, 5, seed=1)
    of: dict[str, set[int]] = {}
    for row, at in zip(rows, fold, strict=True):
        for shared in (row.claim, row.evidence.title, row.page):
            of.setdefault(shared, set()).add(at)
    assert all(len(found) == 1 for found in of.values())
    assert len(set(fold)) > 1


def test_labels_are_read_plain_and_packed_without_their_answers(tmp_path: Path) -> None:
    record = {
        "source": "wice",
        "claim": "C.",
        "title": "T",
        "snippet": "One. Two.",
        "supporting_sentences": [[0]],
        "label": "full",
    }
    text = json.dumps(record) + "\n\n"
    (tmp_path / "a.jsonl").write_text(text)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    assert load_labels(tmp_path / "a.jsonl") == load_labels(tmp_path / "a.jsonl.gz")
    assert load_labels(tmp_path / "a.jsonl")[0].evidence.sentences == ["One.", "Two."]


@pytest.mark.parametrize(("positive", "negative", "expected"), [([2, 3], [0, 1], 1.0), ([0], [1], 0.0), ([1, 1], [1], 0.5)])
def test_auroc(positive: list[float], negative: list[float], expected: float) -> None:
    assert measure_auroc(positive, negative) == expected


def test_each_figure_tells_the_full_rows_of_a_source_from_others() -> None:
    graded = [
        GradedRow(pair("rain", "full"), ClaimGrade(Support.FULL, 0.9)),
        GradedRow(pair("iron", "none"), ClaimGrade(Support.NONE, 0.1)),
        GradedRow(pair("coal", "contradict"), ClaimGrade(Support.CONTRADICTED, 0.95)),
    ]
    figures = figures_of(graded)
    assert (figures["scifact_none_auroc"], figures["scifact_contradict_auroc"]) == (1.0, 0.0)
    assert "wice_full_auroc" not in figures
