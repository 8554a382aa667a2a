"""Fusion, diversity and BM25 weights: what decides the order of results."""

from math import sqrt

import pytest
from qdrant_edge import Bm25, Bm25Config

from app.domain.evidence import Passage, Source, snapshot_hash
from retrieval.index.sparse import (
    BLOCK,
    LENGTH_WEIGHT,
    SATURATION,
    SparseEncoder,
    average_lengths,
    count_content_words,
    prepare_tokens,
)
from retrieval.search.diversity import select_diverse
from retrieval.search.fusion import fuse_scores
from retrieval.search.meaning import LEAST_COMPARED, choose_compared

A, B, C = 1, 2, 3


def passage(url: str, text: str, score: float) -> Passage:
    source = Source(url=url, title=url, snapshot=snapshot_hash(text))
    return Passage(source=source, text=text, start=0, end=len(text), score=score)


def sentence(topic: str) -> str:
    return f"The report on {topic} was laid before both houses, and {topic} was debated for {len(topic)} days in {topic} hall."


STEP = sqrt(3 / 2) / 6
"""How far the outer two of three evenly spaced scores are from the middle one."""


def test_each_half_counts_alike_whatever_its_scale() -> None:
    fused = fuse_scores({A: 30.0, B: 20.0, C: 10.0}, {B: 0.9, C: 0.7, A: 0.5}, 3)
    assert fused == [(B, pytest.approx(0.5 + STEP / 2)), (A, pytest.approx(0.5)), (C, pytest.approx(0.5 - STEP / 2))]


def test_one_poor_candidate_does_not_change_the_order_of_the_others() -> None:
    crowd = {10 + n: 20.0 - n / 10 for n in range(50)}
    sparse, dense = {A: 30.0, B: 27.0} | crowd, {A: 0.50, B: 0.58} | {key: score / 50 for key, score in crowd.items()}
    fused = [key for key, _ in fuse_scores(sparse, dense, 52)]
    assert [key for key, _ in fuse_scores(sparse | {C: 1.0}, dense, 52)][:10] == fused[:10]


def test_what_both_halves_found_goes_before_what_one_did() -> None:
    assert [key for key, _ in fuse_scores({A: 9.0, B: 8.0, C: 7.0}, {A: 0.4, B: 0.6}, 3)][-1] == C


def test_what_the_vectors_missed_counts_with_its_own_score() -> None:
    sparse, dense = {A: 30.0, B: 20.0, C: 10.0}, {B: 0.9, 10: 0.8, 11: 0.7}
    assert fuse_scores(sparse, dense, 3)[0][0] == B
    assert fuse_scores(sparse, dense, 3, missed={A: 0.85, C: 0.2})[0][0] == A


def test_a_word_that_one_passage_has_is_not_drowned() -> None:
    dense = {10 + n: 0.2 + n / 1_000 for n in range(100)} | {B: 0.33, A: 0.25}
    assert fuse_scores({A: 3.0}, dense, 200)[0][0] == A


def test_one_half_alone_keeps_its_order() -> None:
    assert fuse_scores({A: 12.0, B: 3.0, C: 6.0}, None, 200) == [(A, 1.0), (C, 0.5), (B, 0.25)]
    assert [key for key, _ in fuse_scores({A: 12.0, B: 4.0, C: 8.0}, None, 3)] == [A, C, B]
    assert fuse_scores({}, {A: 0.4}, 3) == [(A, 0.25)]
    assert fuse_scores({}, None, 3) == []


def test_a_document_counts_with_what_its_passages_have_together() -> None:
    sparse, dense = {A: 30.0, B: 10.0, C: 21.0}, {A: 0.5, B: 0.9, C: 0.71}
    alone = [key for key, _ in fuse_scores(sparse, dense, 3)]
    together = fuse_scores(sparse, dense, 3, {A: "one", B: "one", C: "other"})
    assert alone[0] == C
    assert together[0][0] in (A, B), "the words stand in the one passage of the document, the meaning in the other"
    assert [key for key, _ in together][1] == C, "its other passage keeps the place that it has by itself"


def test_a_passage_is_found_by_its_neighbours_words_too_at_half_their_weight() -> None:
    encoder = SparseEncoder(10.0, 10.0)
    query = encoder.weigh_query("zeppelin hangar")
    (alone,) = encoder.weigh_passages("", ["the hangar stood empty"])
    _, within = encoder.weigh_passages("", ["a zeppelin.", "the hangar stood empty"])
    found = dict(zip(within.indices, within.values, strict=True))
    assert set(query.indices) <= found.keys()
    assert not set(query.indices) <= set(alone.indices)
    neighbour, own = sorted(found[index] for index in query.indices)
    assert neighbour < 0.6 * own


def test_without_vectors_only_the_best_by_words_are_compared() -> None:
    scores = {number: float(number) for number in range(200)}
    assert choose_compared(scores, 150) == list(range(199, 49, -1))
    assert choose_compared(scores, 15) == list(range(199, 199 - LEAST_COMPARED, -1))
    assert choose_compared({A: 1.0, B: 2.0}, 15) == [B, A]


def test_near_duplicates_collapse_into_the_best() -> None:
    text = sentence("silver coinage") + " " + sentence("the customs houses")
    ranked = [passage("a", text, 0.9), passage("b", text.replace("laid", "placed"), 0.8), passage("c", sentence("wool"), 0.7)]
    assert [p.source.url for p in select_diverse(ranked, 10)] == ["a", "c"]


def test_chinese_near_duplicates_collapse_too() -> None:
    text = "北京故宫始建于明朝永乐四年，是世界上现存规模最大的宫殿建筑群。"
    ranked = [passage("a", text, 0.9), passage("b", text + "今天是博物院。", 0.8), passage("c", "上海是中国最大的城市。", 0.5)]
    assert [p.source.url for p in select_diverse(ranked, 10)] == ["a", "c"]


def test_no_document_takes_every_place_while_others_have_something() -> None:
    many = [passage("big", sentence(f"matter{n}"), 1 - n / 100) for n in range(10)]
    others = [passage(f"small{n}", sentence(f"affair{n}"), 0.1) for n in range(4)]
    chosen = select_diverse([*many, *others], 6)
    assert [p.source.url for p in chosen] == ["big", "big", "small0", "small1", "small2", "small3"]


def test_a_lone_document_may_take_every_place() -> None:
    many = [passage("big", sentence(f"matter{n}"), 1 - n / 100) for n in range(10)]
    assert select_diverse(many, 6) == many[:6]


def test_chinese_is_indexed_in_simplified_characters_by_pairs_and_one_by_one() -> None:
    assert prepare_tokens("關稅高 is 大").split() == ["关税", "税高", "关", "税", "高", "is", "大"]
    encoder = SparseEncoder(10.0)
    assert set(encoder.weigh_query("故宫").indices) <= set(encoder.weigh_passages("", ["北京的故宫始建于明朝"])[0].indices)


def test_english_words_match_in_any_form_case_and_accent() -> None:
    encoder = SparseEncoder(10.0)
    (found,) = encoder.weigh_passages("", ["the tariff of Zurich"])
    assert set(encoder.weigh_query("TARIFFS Zürich").indices) == set(found.indices)
    assert encoder.weigh_query("of the and").indices == []


def test_the_commonest_words_are_not_counted() -> None:
    assert list(map(count_content_words, ["The tariff of the States", "wool", ""])) == [2, 1, 0]
    assert average_lengths([("Wool", ["the tariff", "sugar and salt", "trade"]), ("", ["trade"])]) == (2.0, 3.5)
    assert average_lengths([("Wool", [])]) == (0.0, 0.0)


def test_weights_are_the_engines_whatever_the_length_of_the_document() -> None:
    title, texts = "Wool", [sentence(f"matter{n % 7} wool wool trade {n}") * (1 + n % 3) for n in range(2 * BLOCK + 3)]
    encoder = SparseEncoder(9.0, 27.0)
    engines = [
        Bm25(Bm25Config(k=SATURATION, b=LENGTH_WEIGHT, avg_len=length, language="english", ascii_folding=True))
        for length in (9.0, 27.0)
    ]
    for place, found in enumerate(encoder.weigh_passages(title, texts)):
        seen = texts[place], " ".join(texts[max(0, place - 1) : place + 2])
        own, around = (engine.embed_document(f"{title}\n{text}") for engine, text in zip(engines, seen, strict=True))
        expected = dict(zip(around.indices, (value / 2 for value in around.values), strict=True))
        for term, value in zip(own.indices, own.values, strict=True):
            expected[term] += value / 2
        assert dict(zip(*found, strict=True)) == pytest.approx(expected, rel=1e-5), place
