"""One suite for both adapters: the engine in process, and a Qdrant server over REST and over gRPC.

The server is a stub that the engine answers behind and, where QDRANT_TEST_URL names one, a real server.
"""

import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from uuid import uuid4

import pytest

from app.domain.errors import NotFound, ToolUnavailable
from retrieval.index.edge import EdgeIndex
from retrieval.index.ports import EVERYTHING, Hits, HybridQuery, Index, IndexDamaged, IndexedPassage, PassagePlace
from retrieval.index.server import ServerIndex
from retrieval.index.sparse import SparseEncoder, SparseVector
from retrieval.ports import SearchFilter
from retrieval.search.joint_search import JointIndexes, documents_of
from retrieval.store.catalogue import Generation
from tests.retrieval.index.qdrant_grpc_stub import QdrantGrpcStub
from tests.retrieval.index.qdrant_stub import QdrantStub

TEXTS = {
    "tariff": "The tariff on wool was raised and the duties on sugar were abolished",
    "canal": "A canal across the isthmus would join the oceans",
    "wool": "Farmers who keep sheep sell wool",
    "故宫": "北京的故宫始建于明朝",
}
BELONGS = {"wool": ("farmers", date(1890, 10, 1)), "tariff": ("clerks", date(1894, 8, 27)), "canal": ("", date(1881, 1, 1))}
WORDS = SparseEncoder(8.0, 8.0)
NOTHING = SparseVector([], [])
SIZE = 32


REAL_SERVER = os.environ.get("QDRANT_TEST_URL")
"""A real Qdrant server to run the suite against as well; its gRPC port is taken to be 6334. See infra/compose.yaml."""


@pytest.fixture(params=["edge", "rest", "grpc", "real rest", "real grpc"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    kind = request.param
    if kind == "edge":
        yield EdgeIndex(tmp_path / "index")
    elif kind.startswith("real"):
        yield from real_server(6334 if kind.endswith("grpc") else None)
    else:
        stub = QdrantStub(tmp_path / "qdrant")
        stub.start()
        front = QdrantGrpcStub(stub.url)
        front.start()
        yield ServerIndex(stub.url, front.port if kind == "grpc" else None)
        front.stop()
        stub.stop()


def weigh(text: str) -> SparseVector:
    return WORDS.weigh_passages("", [text])[0]


def real_server(grpc_port: int | None) -> Iterator[Index]:
    if REAL_SERVER is None:
        pytest.skip("not run here: QDRANT_TEST_URL names no Qdrant server")
    index = ServerIndex(REAL_SERVER, grpc_port, prefix=f"test-{uuid4().hex}.")
    yield index
    for name in index.list_names():
        index.drop(name)


def passages() -> list[IndexedPassage]:
    return [
        IndexedPassage(
            (1 << 63) + n,
            weigh(text),
            key,
            10 * n,
            10 * n + 5,
            "zh" if key == "故宫" else "en",
            *BELONGS.get(key, ()),
        )
        for n, (key, text) in enumerate(TEXTS.items())
    ]


def direction(n: int, size: int = SIZE) -> list[float]:
    return [1.0 if i == n else 0.0 for i in range(size)]


@pytest.fixture
def filled(index: Index) -> Index:
    index.create("a.1")
    index.upsert("a.1", passages())
    index.flush("a.1")
    index.optimize("a.1")
    return index


def named(index: Index, name: str, hits: Hits) -> list[str]:
    places = index.find_places(name, list(hits))
    return [places[number].document for number in hits]


def documents(index: Index, name: str, text: str, where: SearchFilter = EVERYTHING) -> list[str]:
    return named(index, name, index.query(name, HybridQuery(WORDS.weigh_query(text), None, 10, where)).sparse)


def test_indexes_searched_together_keep_points_of_one_number_apart(filled: Index) -> None:
    filled.create("b.1.words")
    filled.upsert("b.1.words", passages()[:1])
    generations = [Generation(name=name, collection=name[0], recipe="", average_length=8.0) for name in ("b.1.words", "a.1")]
    within = JointIndexes(filled, generations * 2)
    hits, _ = within.search(HybridQuery(WORDS.weigh_query("tariffs on wool"), None, 10))
    places = within.find_places(hits)
    assert sorted((key.within, places[key].document) for key in hits) == [
        ("a.1", "tariff"),
        ("a.1", "wool"),
        ("b.1.words", "tariff"),
    ]
    assert len(set(documents_of(places).values())) == 3
    assert within.find_places({}) == {}


def test_words_find_their_passages_with_their_places(filled: Index) -> None:
    found = filled.query("a.1", HybridQuery(WORDS.weigh_query("tariffs on wool"), None, 10))
    assert named(filled, "a.1", found.sparse) == ["tariff", "wool"]
    assert found.dense == {}
    first, second = found.sparse.values()
    assert first > second > 0
    assert filled.find_places("a.1", list(found.sparse)) == {
        1 << 63: PassagePlace(1 << 63, "tariff", 0, 5),
        (1 << 63) + 2: PassagePlace((1 << 63) + 2, "wool", 20, 25),
    }
    assert filled.find_places("a.1", [12345]) == {}


def test_places_follow_what_is_written_anew_and_deleted(filled: Index) -> None:
    ids = [passage.id for passage in passages()]
    before = filled.find_places("a.1", ids)
    moved = passages()[0]._replace(start=1)
    filled.upsert("a.1", [moved])
    filled.delete_documents("a.1", ["wool"])
    after = filled.find_places("a.1", ids)
    assert after[moved.id] == before[moved.id]._replace(start=1)
    assert {place.document for place in before.values()} - {place.document for place in after.values()} == {"wool"}


def test_chinese_words_are_found(filled: Index) -> None:
    assert documents(filled, "a.1", "故宫在哪里？") == ["故宫"]


def test_rare_words_weigh_more_than_common_ones(index: Index) -> None:
    index.create("a.1")
    common = [IndexedPassage(n, weigh("wool wool trade"), f"d{n}", 0, 1, "en") for n in range(20)]
    index.upsert("a.1", [*common, IndexedPassage(99, weigh("sugar trade"), "rare", 0, 1, "en")])
    assert documents(index, "a.1", "wool sugar")[0] == "rare"


def test_a_language_filter_keeps_only_that_language(filled: Index) -> None:
    assert documents(filled, "a.1", "wool 故宫", SearchFilter(language="zh")) == ["故宫"]
    assert documents(filled, "a.1", "wool", SearchFilter(language="zh")) == []


def test_a_query_of_nothing_finds_nothing(filled: Index) -> None:
    assert filled.query("a.1", HybridQuery(NOTHING, None, 10)) == ({}, {})


def test_dense_vectors_are_added_later_and_searched(filled: Index) -> None:
    assert filled.count_dense("a.1") == 0
    filled.begin_dense("a.1", SIZE)
    assert filled.count_dense("a.1") == 0
    ids = [hit.id for hit in filled.list_without_dense("a.1", 3)]
    assert len(set(ids)) == 3
    filled.set_dense("a.1", [(passage.id, direction(n)) for n, passage in enumerate(passages()) if n < 3])
    filled.flush("a.1")
    assert filled.count_dense("a.1") == 3
    assert [place.document for place in filled.list_without_dense("a.1", 10)] == ["故宫"]
    found = filled.query("a.1", HybridQuery(WORDS.weigh_query("sugar"), direction(1), 2))
    assert named(filled, "a.1", found.sparse) == ["tariff"]
    assert named(filled, "a.1", found.dense)[0] == "canal"
    assert max(found.dense.values()) == pytest.approx(1.0, abs=1e-5)


def test_chosen_points_are_compared_whatever_a_search_finds(filled: Index) -> None:
    filled.begin_dense("a.1", SIZE)
    ids = [passage.id for passage in passages()]
    filled.set_dense("a.1", [(number, direction(n)) for n, number in enumerate(ids[:-1])])
    filled.flush("a.1")
    assert filled.compare("a.1", direction(1), ids[1:]) == {
        ids[1]: pytest.approx(1.0, abs=1e-5),
        ids[2]: pytest.approx(0.0, abs=1e-5),
    }
    assert filled.compare("a.1", direction(1), []) == {}


def test_dense_vectors_of_another_size_replace_those_there_are(filled: Index) -> None:
    filled.begin_dense("a.1", SIZE)
    filled.set_dense("a.1", [(passage.id, direction(n)) for n, passage in enumerate(passages())])
    filled.begin_dense("a.1", 8)
    assert filled.count_dense("a.1") == 0
    assert documents(filled, "a.1", "canal") == ["canal"]
    filled.set_dense("a.1", [(passage.id, direction(n, 8)) for n, passage in enumerate(passages())])
    filled.optimize("a.1")
    found = filled.query("a.1", HybridQuery(NOTHING, direction(2, 8), 1))
    assert named(filled, "a.1", found.dense) == ["wool"]


def test_a_tenant_finds_its_own_and_what_is_nobodys(filled: Index) -> None:
    everything = "wool canal 故宫"
    assert set(documents(filled, "a.1", everything)) == {"wool", "tariff", "canal", "故宫"}
    assert set(documents(filled, "a.1", everything, SearchFilter(tenant="farmers"))) == {"wool", "canal", "故宫"}
    assert set(documents(filled, "a.1", everything, SearchFilter(tenant="strangers"))) == {"canal", "故宫"}


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (date(1890, 10, 1), None, {"wool", "tariff"}),
        (date(1890, 10, 2), date(1894, 8, 27), {"tariff"}),
        (None, date(1890, 9, 30), {"canal"}),
        (date(1900, 1, 1), None, set()),
    ],
)
def test_dates_are_inclusive_and_what_has_none_is_outside(
    filled: Index, first: date | None, last: date | None, expected: set[str]
) -> None:
    where = SearchFilter(published_from=first, published_to=last)
    assert set(documents(filled, "a.1", "wool canal 故宫", where)) == expected


def test_filters_hold_for_both_halves_at_once(filled: Index) -> None:
    filled.begin_dense("a.1", SIZE)
    filled.set_dense("a.1", [(passage.id, direction(n)) for n, passage in enumerate(passages())])
    where = SearchFilter(tenant="farmers", language="en", published_from=date(1885, 1, 1))
    found = filled.query("a.1", HybridQuery(WORDS.weigh_query("wool canal"), direction(0), 10, where))
    assert [named(filled, "a.1", half) for half in found] == [["wool"], ["wool"]]


def test_writing_a_point_again_replaces_it(filled: Index) -> None:
    filled.upsert("a.1", passages()[:2])
    assert filled.count("a.1") == 4


def test_a_documents_points_can_be_deleted(filled: Index) -> None:
    filled.delete_documents("a.1", ["tariff", "canal", "unknown"])
    filled.delete_documents("a.1", [])
    assert filled.count("a.1") == 2
    assert documents(filled, "a.1", "wool") == ["wool"]


def test_a_derived_index_holds_what_its_base_holds_and_can_grow(filled: Index) -> None:
    name = filled.derive("a.1", "a.2")
    filled.upsert(name, [IndexedPassage(7, weigh("a new passage on silver"), "silver", 0, 1, "en")])
    filled.flush(name)
    assert documents(filled, name, "silver") == ["silver"]
    assert documents(filled, name, "canal") == ["canal"]


def test_an_alias_is_switched_and_what_it_left_can_be_dropped(filled: Index) -> None:
    assert filled.resolve("a") is None
    filled.switch("a", "a.1")
    filled.create("a.2")
    filled.switch("a", "a.2")
    assert filled.resolve("a") == "a.2"
    filled.close("a.1")
    filled.drop("a.1")
    assert list(filled.list_names()) == ["a.2"]
    filled.unalias("a")
    filled.unalias("a")
    assert filled.resolve("a") is None


def test_creating_again_empties(filled: Index) -> None:
    filled.create("a.1")
    assert filled.count("a.1") == 0


def test_what_does_not_exist_is_said_so(filled: Index) -> None:
    filled.drop("zz")
    for act in (
        lambda: filled.count("zz"),
        lambda: filled.switch("a", "zz"),
        lambda: filled.derive("zz", "a.2"),
        lambda: filled.query("zz", HybridQuery(WORDS.weigh_query("wool"), None, 3)),
    ):
        with pytest.raises(NotFound, match="no index 'zz'"):
            act()


def test_a_damaged_index_says_what_to_do(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path)
    index.create("a.1")
    index.close("a.1")
    (tmp_path / "a.1" / "edge_config.json").write_text("{")
    with pytest.raises(IndexDamaged, match="build its collection again"):
        index.count("a.1")


@pytest.mark.parametrize("grpc_port", [None, 9])
def test_a_server_that_does_not_answer_is_worth_waiting_for(grpc_port: int | None) -> None:
    with pytest.raises(ToolUnavailable, match="does not answer"):
        ServerIndex("http://127.0.0.1:9", grpc_port).list_names()
