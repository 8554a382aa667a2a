from collections.abc import Iterator
from pathlib import Path

import pytest

from retrieval.store.catalogue import Collection, CorpusKind
from tests.retrieval.rebuildable_home import RebuildableHome


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home."""
    return tmp_path / "home"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with three short documents."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tariff.md").write_text("# Tariffs\n\nThe **tariff** of 1890 raised duties on wool.\n\nIt fell to farmers to pay.")
    (folder / "canal.txt").write_text("The canal across the isthmus shortened the voyage. Ships paid tolls in gold.")
    (folder / "北京.txt").write_text("北京是中国的首都。故宫位于北京市中心，始建于明朝。")
    return folder


@pytest.fixture
def notes_collection(notes: Path) -> Collection:
    """The folder as a collection."""
    return Collection(name="notes", kind=CorpusKind.FOLDER, path=str(notes))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[RebuildableHome]:
    """A home with one collection, to build again and again."""
    made = RebuildableHome(tmp_path)
    yield made
    made.shelves.close()
