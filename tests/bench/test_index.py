"""The benchmark of builds measures a whole build, and what it compares it with."""

from pathlib import Path

import pytest

from bench.index import ARTICLES, measure
from tests.retrieval.word_encoder import WordEncoder


@pytest.mark.skipif(not ARTICLES.is_file(), reason="the Wikipedia articles are not on this machine")
def test_a_build_is_measured_against_its_encoder(tmp_path: Path) -> None:
    encoder = WordEncoder()
    figures = measure(tmp_path, 3, encoder)
    assert len(encoder.encoded) == 2 * figures["passages"] + min(32, figures["passages"])
    assert figures["ratio"] == pytest.approx(figures["build_per_s"] / figures["encoder_per_s"])
    assert {"reading_s", "indexing_s", "encoding_s"} <= figures.keys()
