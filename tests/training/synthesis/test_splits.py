"""The splits of a set: no query or near-copy is on two sides, nor a document that rows hold; about 8:1:1 within each topic."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.query import Language
from app.domain.split import Split
from retrieval.encoding.encoder import Vectors
from training.decontamination.near_meanings import MODEL, list_near_meanings, name_measure
from training.synthesis.evidence_trees.query_map import render_query_map
from training.synthesis.training_set.outcome import KeptRow
from training.synthesis.training_set.recipe import QUOTED, WHOLE
from training.synthesis.training_set.row_groups import Bond, list_evidence
from training.synthesis.training_set.splits import assign_splits


def make_row(query: str, documents: tuple[str, ...], topic: str = "history", split: Split | None = None) -> KeptRow:
    return KeptRow(query=query, topic=topic, language=Language.ENGLISH, documents=documents, data={}, split=split)


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
    assert splits.sides.keys() | splits.leaving.keys() == rows.keys()
    assert not splits.sides.keys() & splits.leaving.keys()
    for one, other in combinations(splits.sides, 2):
        if splits.sides[one] is not splits.sides[other]:
            assert rows[one].query != rows[other].query
            if set(rows[one].documents) & set(rows[other].documents):
                assert Split.VALIDATION in (splits.sides[one], splits.sides[other])
                assert "share a document with rows for training" in splits.notices[-1]
    held = {name for name, side in splits.sides.items() if side is not Split.TRAIN}
    assert len(splits.leaving) <= len(held), "no more rows leave than are held out"
    assert all(set(said_of(rows[name])) & {each for one in held for each in said_of(rows[one])} for name in splits.leaving)
    assert assign_splits(dict(reversed(rows.items())), seed) == splits, "the order of the rows decides nothing"


def said_of(row: KeptRow) -> tuple[str, ...]:
    """What a row may share with another, in these tests."""
    return (*row.documents, row.query)


def test_unlinked_rows_are_split_8_1_1_in_each_topic() -> None:
    rows = {
        f"{topic}{n}": make_row(f"{topic} alpha{n} beta{n} gamma{n}", (f"{topic}{n}",), topic)
        for topic in ("history", "law")
        for n in range(100)
    }
    splits = assign_splits(rows, seed=1)
    for topic in ("history", "law"):
        counts = Counter(splits.sides[name] for name in rows if name.startswith(topic))
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


def test_chinese_queries_are_compared_by_words_where_the_encoder_knows_none() -> None:
    queries = ["新能源汽车电池回收的产业链现状与未来趋势", "新能源汽车电池回收的产业链近况与未来趋势", "关税 tariff of 1824"]
    rows = {str(n): make_row(query, (f"d{n}",)) for n, query in enumerate(queries)}
    evidence = list_evidence(rows, TwoMeanings())[Bond.LIKENESS]
    assert evidence["0"] == evidence["1"] != []
    assert evidence["2"] == []
    assert (name_measure(TwoMeanings()), name_measure(None)) == (f"words, and in English meaning by {MODEL}-toy", "words")


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
    assert not splits.leaving, "pairs fit into each split"
    assert all(splits.sides[str(n)] is splits.sides[str(n + 1)] for n in range(0, 100, 2))


@pytest.mark.parametrize("seed", range(5))
def test_a_set_that_is_linked_as_a_whole_loses_few_rows_and_still_has_a_test_split(seed: int) -> None:
    rows = {str(n): make_row(f"alpha{n} beta{n} gamma{n}", (f"d{n}", f"d{n + 1}")) for n in range(100)}
    splits = assign_splits(rows, seed)
    counts = Counter(splits.sides.values())
    assert min(counts[Split.TEST], counts[Split.VALIDATION]) >= 9
    assert len(splits.leaving) <= 10
    assert all(why.startswith("document d") for why in splits.leaving.values())
    assert splits.notices == ()


def test_where_all_rows_share_one_document_there_is_a_small_validation_and_no_test_and_this_is_told() -> None:
    rows = {str(n): make_row(f"alpha{n} beta{n} gamma{n}", ("d",)) for n in range(50)}
    splits = assign_splits(rows, seed=1)
    assert Counter(splits.sides.values()) == {Split.TRAIN: 48, Split.VALIDATION: 2}
    linked, shared = splits.notices
    assert "test has 0 of 5 rows, validation has 0 of 5 rows: 50 of 50 rows hang together" in linked
    assert "document d (50 rows)" in linked
    assert shared == "2 of 2 rows that are held out share a document with rows for training: document d (2 rows)"


@pytest.mark.parametrize("walls", [WHOLE, QUOTED])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("topics", [1, 3, 12])
def test_a_dozen_rows_of_one_collection_have_a_validation(walls: tuple[Bond, ...], seed: int, topics: int) -> None:
    rows = {str(n): make_row(f"alpha{n} beta{n} gamma{n}", ("d", f"e{n // 2}"), f"t{n % topics}") for n in range(12)}
    splits = assign_splits(rows, seed, walls=walls)
    counts = Counter(splits.sides.values())
    assert counts[Split.VALIDATION] == 2
    assert counts[Split.TEST] == (2 if walls == QUOTED else 0)
    assert "share a document with rows for training: document d" in splits.notices[-1]


def test_even_where_a_dozen_queries_resemble_each_other_there_is_a_validation() -> None:
    rows = {str(n): make_row(f"How did the long harbour wall of place{n} come to be built", ("d",)) for n in range(12)}
    splits = assign_splits(rows, 1)
    assert Counter(splits.sides.values())[Split.VALIDATION] == 2
    assert "share a likeness with rows for training" in splits.notices[-2]


def make_decided(sides: dict[str, Split]) -> dict[str, KeptRow]:
    return {name: make_row(f"alpha{name} beta{name} gamma{name}", ("d",), split=side) for name, side in sides.items()}


def test_a_query_stays_on_the_side_on_which_its_source_put_it() -> None:
    decided = dict.fromkeys("abcdefgh", Split.TRAIN) | dict.fromkeys("ij", Split.VALIDATION) | dict.fromkeys("kl", Split.TEST)
    rows = make_decided(decided)
    rows["again"] = make_row(rows["k"].query, ("d",), split=Split.TRAIN)
    assert assign_splits(rows, 1, walls=QUOTED).sides == decided | {"again": Split.TEST}


def test_rows_for_training_that_resemble_a_query_that_was_held_out_leave() -> None:
    rows = make_decided(dict.fromkeys("abcdefgh", Split.TRAIN) | {"i": Split.VALIDATION, "j": Split.TEST})
    rows["near"] = make_row(f"{rows['i'].query} really", ("d",), split=None)
    splits = assign_splits(rows, 1, walls=QUOTED)
    assert splits.leaving.keys() == {"near"}
    assert splits.leaving["near"].startswith("likeness of")


def test_where_no_query_that_was_held_out_became_a_row_others_are_the_validation() -> None:
    splits = assign_splits(make_decided(dict.fromkeys("abcdefghijkl", Split.TRAIN)), 1, walls=QUOTED)
    assert Counter(splits.sides.values()) == {Split.TRAIN: 10, Split.VALIDATION: 2}


def test_the_few_rows_that_join_large_groups_leave() -> None:
    rows = {
        f"{group}-{n}": make_row(f"alpha{group}x{n} beta{group}x{n}", (f"d{group}",)) for group in range(20) for n in range(10)
    }
    rows |= {f"join{n}": make_row(f"gamma{n} delta{n}", (f"d{n}", f"d{n + 1}")) for n in range(19)}
    splits = assign_splits(rows, seed=3)
    counts = Counter(splits.sides.values())
    assert min(counts[Split.TEST], counts[Split.VALIDATION]) >= 20
    assert splits.leaving.keys() <= {f"join{n}" for n in range(19)}
    assert 1 <= len(splits.leaving) <= 8


@pytest.mark.timeout(300)
def test_nine_thousand_rows_that_hang_together_are_split_in_seconds() -> None:
    rows = {str(n): make_row(f"alpha{n} beta{n}", ("d", f"e{n % 3_000}", f"f{n * 7 % 3_000}")) for n in range(9_000)}
    assert len(assign_splits(rows, seed=1).sides) == 9_000
