"""A home of a former version: files that former readers read are read again, and an index of another recipe is made again."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.domain.evidence import snapshot_hash
from retrieval.building.build import RECIPE
from retrieval.corpora.uploads import READERS_VERSION
from retrieval.ports import SearchFilter
from retrieval.service.client import IndexClient
from tests.retrieval.service.owner_process import OwnerProcess

NAME, SAYS, MISREAD = "own-aaaa", "The ledger was sealed with zebrawood wax.", "T h e l e d g e r."
OURS = SearchFilter(collections=(NAME,), tenant="org-a")


@pytest.fixture
def document(tmp_path: Path) -> Path:
    """The folder of a document that an organisation sent."""
    folder = tmp_path / "home" / "documents" / "a" / "d1"
    folder.mkdir(parents=True)
    (folder / "original.md").write_text(f"# Ledger\n\n{SAYS}\n")
    (folder / "about.json").write_text(json.dumps({"name": "l.md", "address": "file:///Ledgers/l.md", "suffix": ".md"}))
    return folder


async def test_the_next_start_reads_and_indexes_anew_what_a_former_version_made(document: Path, tmp_path: Path) -> None:
    owner = OwnerProcess(tmp_path / "home")
    try:
        async with IndexClient(str(owner.socket)) as client:
            await client.build(NAME, "uploads", str(document.parent), tenant="org-a")
            await wait_until_built(client)
        assert await asyncio.to_thread(owner.stop) == 0
        make_former(document, owner.home)
        await asyncio.to_thread(owner.start)
        async with IndexClient(str(owner.socket)) as client:
            await wait_until_built(client)
            assert [SAYS in passage.text for passage in await client.search("zebrawood wax", 5, OURS)] == [True]
            (state,) = await client.list_documents(NAME)
            assert state["state"] == "indexed"
        assert json.loads((document / "read.json").read_text())["readers"] == READERS_VERSION
        with closing(sqlite3.connect(owner.home / "retrieval" / "store.db")) as store:
            assert store.execute("SELECT DISTINCT recipe FROM generations WHERE collection = ?", [NAME]).fetchall() == [(RECIPE,)]
    finally:
        owner.clean()


async def wait_until_built(client: IndexClient) -> None:
    while (await client.read_progress(NAME))["building"]:
        await asyncio.sleep(0.05)


def make_former(document: Path, home: Path) -> None:
    """Leave what former readers, who misread the file, and a former recipe would have left."""
    reading = json.loads((document / "read.json").read_text()) | {"readers": "1", "snapshot": snapshot_hash(MISREAD)}
    (document / "read.json").write_text(json.dumps(reading))
    (document / "text").write_text(MISREAD)
    with closing(sqlite3.connect(home / "retrieval" / "store.db")) as store:
        store.execute("UPDATE generations SET recipe = 'passages-v1' WHERE collection = ?", [NAME])
        store.commit()
