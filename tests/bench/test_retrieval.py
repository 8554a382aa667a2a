"""What `bench.retrieval` counts: the measures, the sets it reads, and encodings that are kept."""

import json
from pathlib import Path

import numpy as np
import pytest

from bench.encodings import CachingEncoder
from bench.labelled_sets import document_id_of, load_beir, take_half
from retrieval.ports import SearchFilter
from retrieval.search.in_process import open_local
from tests.retrieval.word_encoder import WordEncoder
from training.evaluation.retrieval_metrics import ndcg, recall


def test_the_gain_of_a_ranking_falls_with_the_places() -> None:
    assert ndcg(["a", "b"], {"a": 1, "b": 1}) == pytest.approx(1.0)
    assert ndcg(["x", "a"], {"a": 1}) == pytest.approx(0.6309, abs=1e-4)
    assert ndcg(["b", "a"], {"a": 2, "b": 1}) == pytest.approx((1 + 2 * 0.6309) / (2 + 0.6309), abs=1e-4)
    assert ndcg([f"x{n}" for n in range(10)] + ["a"], {"a": 1}) == 0.0


def test_recall_counts_the_first_ten() -> None:
    assert recall(["a", "x", "b"], {"a": 1, "b": 1, "c": 1, "d": 1}) == 0.5
    assert recall([f"x{n}" for n in range(10)] + ["a"], {"a": 1}) == 0.0


def test_any_set_in_beirs_files_is_read_built_and_searched(tmp_path: Path) -> None:
    records = [{"_id": "d/1", "title": "Sheep", "text": "Wool is shorn in spring."}, {"_id": "d 2", "text": "Ships pay tolls."}]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "tolls for ships"}\n{"_id": "q2", "text": "unlabelled"}\n')
    (tmp_path / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td 2\t1\nq1\td/1\t0\n")
    own = load_beir("own", tmp_path / "queries.jsonl", tmp_path / "test.tsv", tmp_path / "corpus.jsonl")
    assert (own.queries, own.labels) == ({"q1": "tolls for ships"}, {"q1": {"d 2": 1}})
    assert len(take_half(own, 0).queries) + len(take_half(own, 1).queries) == 1
    with open_local(tmp_path / "home", own.write_collection(tmp_path / "corpora"), encoder=WordEncoder) as local:
        found = local.library.search("wool of sheep, tolls of ships", 5, SearchFilter(collections=("own",)))
    assert {document_id_of(passage.source.url) for passage in found} == {"d/1", "d 2"}


def test_what_was_encoded_once_is_not_encoded_again(tmp_path: Path) -> None:
    first = WordEncoder()
    vectors = CachingEncoder(first, tmp_path / "kept.db").encode_passages(["wool", "sheep", "wool"])
    again = WordEncoder()
    kept = CachingEncoder(again, tmp_path / "kept.db")
    assert np.array_equal(kept.encode_passages(["wool", "ships", "sheep"])[[0, 2]], vectors[:2])
    assert (first.encoded, again.encoded) == (["wool", "sheep"], ["ships"])
    other = WordEncoder("another-model")
    CachingEncoder(other, tmp_path / "kept.db").encode_passages(["wool"])
    assert other.encoded == ["wool"]
