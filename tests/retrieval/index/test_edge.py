import json
from datetime import date
from pathlib import Path

import pytest

from retrieval.index.edge import EdgeIndex
from retrieval.index.ports import IndexDamaged, IndexedPassage
from retrieval.index.sparse import SparseVector


def passage(number: int) -> IndexedPassage:
    return IndexedPassage(number, SparseVector([number], [1.0]), f"document {number}", 0, 9, "en", "", date(1890, 10, 1))


def kill_between_points_and_segment(folder: Path, updates_behind: int) -> EdgeIndex:
    """The index `a`, as a kill may leave it: the numbers of its points' last updates are on disk, that of its segment not yet."""
    index = EdgeIndex(folder)
    index.create("a")
    index.begin_dense("a", 2)
    for _ in range(updates_behind):
        index.upsert("a", [passage(1), passage(2)])
    index.flush("a")
    index.close("a")
    (segment,) = folder.glob("a/segments/*/segment.json")
    state = json.loads(segment.read_text())
    segment.write_text(json.dumps(state | {"version": state["version"] - updates_behind}))
    return EdgeIndex(folder)


def test_an_index_is_copied_while_the_engine_writes_a_file_of_it(tmp_path: Path) -> None:
    """The file has another name until it is whole, and is gone under it when the copy comes to it."""
    index = EdgeIndex(tmp_path)
    index.create("a.1")
    index.flush("a.1")
    (tmp_path / "a.1" / ".atomicwriterXyZ").symlink_to("nowhere")
    assert index.count(index.derive("a.1", "a.2")) == 0


def test_vectors_are_kept_although_the_engine_takes_their_update_for_an_old_one(tmp_path: Path) -> None:
    index = kill_between_points_and_segment(tmp_path, updates_behind=5)
    index.set_dense("a", [(1, [1.0, 0.0])])
    assert [place.id for place in index.list_without_dense("a", 10)] == [2]


def test_documents_are_deleted_although_the_engine_takes_that_for_an_old_update(tmp_path: Path) -> None:
    index = kill_between_points_and_segment(tmp_path, updates_behind=5)
    index.delete_documents("a", ["document 2"])
    assert list(index.read_places("a", [1, 2])) == [1]


def test_an_index_that_takes_no_updates_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval.index.edge.MOST_IGNORED", 3)
    index = kill_between_points_and_segment(tmp_path, updates_behind=9)
    with pytest.raises(IndexDamaged, match="build its collection again"):
        index.delete_documents("a", ["document 2"])
