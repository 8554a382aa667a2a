"""What `verify` finds wrong with a collection whose parts no longer agree."""

import json
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.domain.errors import NotFound
from retrieval.building.builder import run_build
from retrieval.index.ports import IndexedPassage
from retrieval.index.sparse import SparseVector
from retrieval.store.catalogue import Collection, CorpusKind
from retrieval.store.home import RetrievalHome, open_retrieval_home
from retrieval.store.verification import verify_collection
from tests.retrieval.word_encoder import WordEncoder


@pytest.fixture
def shelves(tmp_path: Path) -> Iterator[RetrievalHome]:
    """Five documents, built with vectors."""
    file = tmp_path / "corpus.jsonl"
    file.write_text("\n".join(json.dumps({"_id": f"d{n}", "title": "T", "text": f"Text number {n}."}) for n in range(5)))
    opened = open_retrieval_home(tmp_path / "home")
    opened.catalogue.add(Collection(name="c", kind=CorpusKind.BEIR, path=str(file)), datetime.now(UTC))
    run_build(opened, "c", True, WordEncoder, lambda _: None)
    yield opened
    opened.close()


def live(shelves: RetrievalHome) -> str:
    return shelves.index.resolve("c") or ""


def first_key(shelves: RetrievalHome) -> str:
    row = shelves.database.connect().execute("SELECT key FROM documents ORDER BY id").fetchone()
    return str(row["key"])


def stray_point(shelves: RetrievalHome) -> None:
    shelves.index.upsert(live(shelves), [IndexedPassage(7, SparseVector([1], [1.0]), "nobody", 0, 5, "en")])
    shelves.index.set_dense(live(shelves), [(7, WordEncoder().encode_query("x"))])


def lost_point(shelves: RetrievalHome) -> None:
    shelves.index.delete_documents(live(shelves), [first_key(shelves)])


def lost_vectors(shelves: RetrievalHome) -> None:
    shelves.index.begin_dense(live(shelves), WordEncoder().size)


def changed_text(shelves: RetrievalHome) -> None:
    with shelves.database.begin_transaction() as connection:
        connection.execute("UPDATE snapshots SET text = ? WHERE rowid = 1", (zlib.compress(b"Text number X."),))


def lost_snapshot(shelves: RetrievalHome) -> None:
    with shelves.database.begin_transaction() as connection:
        connection.execute("DELETE FROM snapshots WHERE rowid = 1")


def changed_address(shelves: RetrievalHome) -> None:
    with shelves.database.begin_transaction() as connection:
        connection.execute("UPDATE documents SET source = replace(source, 'beir:c/d2', 'beir:c/d9')")


def test_a_whole_collection_has_no_faults(shelves: RetrievalHome) -> None:
    found = verify_collection(shelves, "c")
    assert (found.documents, found.passages, found.points, found.with_vectors) == (5, 5, 5, 5)
    assert (found.problems, found.examples) == (0, [])


@pytest.mark.parametrize(
    ("harm", "problems", "told"),
    [
        (stray_point, 1, "1 points of no document"),
        (lost_point, 1, "is not in the index"),
        (lost_vectors, 5, "5 passages have no vector"),
        (changed_text, 1, "does not have the hash"),
        (lost_snapshot, 2, "cannot be read"),  # and its passage's point now belongs to no document
        (changed_address, 1, "do not have the key"),
    ],
)
def test_each_fault_is_found(shelves: RetrievalHome, harm: Callable[[RetrievalHome], None], problems: int, told: str) -> None:
    harm(shelves)
    found = verify_collection(shelves, "c")
    assert found.problems == problems
    assert told in " ".join(found.examples)


def test_a_collection_without_an_index_cannot_be_verified(shelves: RetrievalHome) -> None:
    with pytest.raises(NotFound):
        verify_collection(shelves, "other")
