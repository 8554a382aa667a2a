"""The splits of a set: no document, query or near-copy is on two sides, and the shares are about 8:1:1 within each topic."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.query import Language
from retrieval.encoding.encoder import Vectors
from training.decontamination.near_meanings import MODEL, list_near_meanings
from training.synthesis.evidence_trees.query_map import render_query_map
from training.synthesis.training_set.outcome import KeptRow
from training.synthesis.training_set.splits import Split, assign_splits


def make_row(query: str, documents: tuple[str, ...], topic: str = "history") -> KeptRow:
    return KeptRow(query=query, topic=topic, language=Language.ENGLISH, documents=documents, data={})


ROWS = st.lists(
    st.tuples(st.integers(0, 40), st.sets(st.integers(0, 60), min_size=1, max_size=4), st.sampled_from(["a", "b"])), max_size=60
)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(0, 5))
def test_nothing_stands_on_two_sides(drawn: list[tuple[int, set[int], str]], seed: int) -> None:
    rows = {
        str(place): make_row(f"query{number} about{number} thing{number}", tuple(f"d{one}" for one in sorted(documents)), topic)
        for place, (number, documents, topic) in enumerate(drawn)
    }
    splits = assign_splits(rows, seed)
    assert splits.keys() == rows.keys()
    staying = [name for name in rows if splits[name] is not None]
    for one, other in combinations(staying, 2):
        if splits[one] is not splits[other]:
            assert not set(rows[one].documents) & set(rows[other].documents)
            assert rows[one].query != rows[other].query


def test_unlinked_rows_are_split_8_1_1_in_each_topic() -> None:
    rows = {
        f"{topic}{n}": make_row(f"{topic} alpha{n} beta{n} gamma{n}", (f"{topic}{n}",), topic)
        for topic in ("history", "law")
        for n in range(100)
    }
    splits = assign_splits(rows, seed=1)
    for topic in ("history", "law"):
        counts = Counter(splits[name] for name in rows if name.startswith(topic))
        assert counts == {Split.TRAIN: 80, Split.VALIDATION: 10, Split.TEST: 10}


class TwoMeanings:
    """An encoder of which every text has one of two meanings: about tariffs, or not."""

    name = f"{MODEL}-toy"
    size = 2

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return np.array([[1.0, 0.0] if "tariff" in text else [0.0, 1.0] for text in texts], dtype=np.float32)

    def encode_query(self, text: str) -> list[float]:
        return [0.0, 1.0]

    def can_read(self, text: str) -> bool:
        return "关税" not in text


def test_queries_that_mean_the_same_are_linked_by_the_encoder_whose_cosines_are_known() -> None:
    texts = ["Why was a tariff levied?", "关税 tariff", "Reasons for the tariff", "Cotton fell", "The tariff's causes", "A river"]
    assert list(list_near_meanings(TwoMeanings(), texts)) == [(0, 2), (0, 4), (2, 4), (3, 5)]
    other = TwoMeanings()
    other.name = "another-model"
    assert list(list_near_meanings(other, texts)) == list(list_near_meanings(None, texts)) == []


def test_the_map_of_queries_shows_those_that_the_encoder_reads_beside_public_ones() -> None:
    rows = [make_row(f"query {n} of the {'tariff' if n % 2 else 'river'}", ()) for n in range(8)]
    drawn = render_query_map(TwoMeanings(), rows, {"frames": ["Which river?", "关税"]})
    assert "this set (8)" in drawn
    assert "frames (1)" in drawn
    assert "100% of the spread" in drawn
    assert render_query_map(None, rows, {}) == render_query_map(TwoMeanings(), rows[:2], {}) == ""


def test_linked_rows_stay_together_where_they_fit() -> None:
    rows = {str(n): make_row(f"alpha{n} beta{n} gamma{n}", (f"d{n // 2}",)) for n in range(100)}
    splits = assign_splits(rows, seed=1)
    assert None not in splits.values(), "pairs fit into each split"
    assert all(splits[str(n)] is splits[str(n + 1)] for n in range(0, 100, 2))


def test_a_set_that_is_linked_as_a_whole_loses_few_rows_and_still_has_a_test_split() -> None:
    rows = {str(n): make_row(f"alpha{n} beta{n} gamma{n}", (f"d{n}", f"d{n + 1}")) for n in range(100)}
    counts = Counter(assign_splits(rows, seed=1).values())
    assert counts[Split.TEST] == counts[Split.VALIDATION] == 10
    assert counts[None] <= 40


def test_where_all_rows_share_one_document_all_are_for_training() -> None:
    rows = {str(n): make_row(f"alpha{n} beta{n} gamma{n}", ("d",)) for n in range(50)}
    assert set(assign_splits(rows, seed=1).values()) == {Split.TRAIN}
