"""Labelled sentences of somebody else's."""

import json
from pathlib import Path

import pytest

from bench.tense import measure_languages, read_sentences


def write_row(path: Path, label: object) -> Path:
    row = {"text": "By 2024 the market will double.", "language": "en", "label": label, "date": "2026-06-15"}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("label", ["error", "Error", True, 1, "yes", "positive"])
def test_a_prediction_of_the_past_is_measured(tmp_path: Path, label: object) -> None:
    figures = measure_languages(read_sentences(write_row(tmp_path / "rows.jsonl", label)))
    assert figures["recall_en"] == figures["precision_en"] == 1.0


def test_what_is_labelled_sound_lowers_precision(tmp_path: Path) -> None:
    figures = measure_languages(read_sentences(write_row(tmp_path / "rows.jsonl", False)))
    assert figures["precision_en"] == 0.0


def test_an_unknown_label_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a label is one of .*error.* not 'perhaps'"):
        read_sentences(write_row(tmp_path / "rows.jsonl", "perhaps"))
