from pathlib import Path

from retrieval.index.edge import EdgeIndex


def test_an_index_is_copied_while_the_engine_writes_a_file_of_it(tmp_path: Path) -> None:
    """The file has another name until it is whole, and is gone under it when the copy comes to it."""
    index = EdgeIndex(tmp_path)
    index.create("a.1")
    index.flush("a.1")
    (tmp_path / "a.1" / ".atomicwriterXyZ").symlink_to("nowhere")
    assert index.count(index.derive("a.1", "a.2")) == 0
