"""One suite for both adapters: the engine in process, and a Qdrant server (its REST surface answered by the engine)."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from app.domain.errors import NotFound, ToolError
from retrieval.index.edge import EdgeIndex
from retrieval.index.ports import DENSE_SIZE, Hit, HybridQuery, Index, IndexDamaged, IndexedPassage, Place
from retrieval.index.server import ServerIndex
from retrieval.sparse import SparseEncoder, SparseVector
from tests.retrieval.qdrant_stub import QdrantStub

TEXTS = {
    "tariff": "The tariff on wool was raised and the duties on sugar were abolished",
    "canal": "A canal across the isthmus would join the oceans",
    "wool": "Farmers who keep sheep sell wool",
    "故宫": "北京的故宫始建于明朝",
}
WORDS = SparseEncoder(8.0)
NOTHING = SparseVector([], [])


@pytest.fixture(params=["edge", "server"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    if request.param == "edge":
        yield EdgeIndex(tmp_path / "index")
        return
    stub = QdrantStub(tmp_path / "qdrant")
    stub.start()
    yield ServerIndex(stub.url)
    stub.stop()


def passages() -> list[IndexedPassage]:
    return [
        IndexedPassage((1 << 63) + n, WORDS.passage(text), key, 10 * n, 10 * n + 5, "zh" if key == "故宫" else "en")
        for n, (key, text) in enumerate(TEXTS.items())
    ]


def direction(n: int) -> list[float]:
    return [1.0 if i == n else 0.0 for i in range(DENSE_SIZE)]


@pytest.fixture
def filled(index: Index) -> Index:
    index.create("a.1")
    index.upsert("a.1", passages())
    index.flush("a.1")
    index.optimize("a.1")
    return index


def named(index: Index, name: str, hits: Sequence[Hit]) -> list[str]:
    places = index.places(name, [hit.id for hit in hits])
    return [places[hit.id].document for hit in hits]


def documents(index: Index, name: str, text: str, language: str | None = None) -> list[str]:
    return named(index, name, index.query(name, HybridQuery(WORDS.query(text), None, 10, language)).sparse)


def test_words_find_their_passages_with_their_places(filled: Index) -> None:
    found = filled.query("a.1", HybridQuery(WORDS.query("tariffs on wool"), None, 10))
    assert named(filled, "a.1", found.sparse) == ["tariff", "wool"]
    assert found.dense == []
    assert found.sparse[0].score > found.sparse[1].score > 0
    assert filled.places("a.1", [hit.id for hit in found.sparse]) == {
        1 << 63: Place(1 << 63, "tariff", 0, 5),
        (1 << 63) + 2: Place((1 << 63) + 2, "wool", 20, 25),
    }
    assert filled.places("a.1", [12345]) == {}


def test_chinese_words_are_found(filled: Index) -> None:
    assert documents(filled, "a.1", "故宫在哪里？") == ["故宫"]


def test_rare_words_weigh_more_than_common_ones(index: Index) -> None:
    index.create("a.1")
    common = [IndexedPassage(n, WORDS.passage("wool wool trade"), f"d{n}", 0, 1, "en") for n in range(20)]
    index.upsert("a.1", [*common, IndexedPassage(99, WORDS.passage("sugar trade"), "rare", 0, 1, "en")])
    assert documents(index, "a.1", "wool sugar")[0] == "rare"


def test_a_language_filter_keeps_only_that_language(filled: Index) -> None:
    assert documents(filled, "a.1", "wool 故宫", "zh") == ["故宫"]
    assert documents(filled, "a.1", "wool", "zh") == []


def test_a_query_of_nothing_finds_nothing(filled: Index) -> None:
    assert filled.query("a.1", HybridQuery(NOTHING, None, 10)) == ([], [])


def test_dense_vectors_are_added_later_and_searched(filled: Index) -> None:
    assert filled.count_dense("a.1") == 0
    ids = [hit.id for hit in filled.without_dense("a.1", 3)]
    assert len(set(ids)) == 3
    filled.set_dense("a.1", [(passage.id, direction(n)) for n, passage in enumerate(passages()) if n < 3])
    filled.flush("a.1")
    assert filled.count_dense("a.1") == 3
    assert [place.document for place in filled.without_dense("a.1", 10)] == ["故宫"]
    found = filled.query("a.1", HybridQuery(WORDS.query("sugar"), direction(1), 2))
    assert named(filled, "a.1", found.sparse) == ["tariff"]
    assert named(filled, "a.1", found.dense)[0] == "canal"
    assert found.dense[0].score == pytest.approx(1.0, abs=1e-5)


def test_dense_vectors_can_be_cleared(filled: Index) -> None:
    filled.set_dense("a.1", [(passage.id, direction(n)) for n, passage in enumerate(passages())])
    filled.clear_dense("a.1")
    assert filled.count_dense("a.1") == 0
    assert documents(filled, "a.1", "canal") == ["canal"]


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
    filled.upsert(name, [IndexedPassage(7, WORDS.passage("a new passage on silver"), "silver", 0, 1, "en")])
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
    assert list(filled.names()) == ["a.2"]
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
        lambda: filled.query("zz", HybridQuery(WORDS.query("wool"), None, 3)),
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


def test_a_server_that_does_not_answer_is_a_tool_error() -> None:
    with pytest.raises(ToolError, match="does not answer"):
        ServerIndex("http://127.0.0.1:9").names()
