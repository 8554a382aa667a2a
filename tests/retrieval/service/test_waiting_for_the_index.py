"""A search of a collection that is being built for the first time waits for it, longer than one request may last."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import web

from app.domain.errors import ToolError
from app.domain.evidence import Passage
from retrieval.ports import SearchFilter
from retrieval.search.library import Library
from retrieval.service import client as client_module
from retrieval.service import owner as owner_module
from retrieval.service.client import IndexClient
from retrieval.service.owner import IndexOwner
from retrieval.service.server import create_index_app
from retrieval.store.catalogue import Collection
from retrieval.store.home import open_retrieval_home

NOTES = SearchFilter(collections=("notes",))
HELD = """
import os, sys, time
from retrieval.building.builder import main
while "notes" in sys.argv and not os.path.exists({go!r}):
    time.sleep(0.02)
sys.exit(main())
"""


class CountingOwner(IndexOwner):
    """An owner that counts the requests for searches."""

    asked = 0
    address = ""

    async def search(self, query: str, limit: int, where: SearchFilter) -> list[Passage]:
        self.asked += 1
        return await super().search(query, limit, where)


@pytest.fixture
async def owner(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[CountingOwner]:
    """An owner that lets a request wait for a moment only, and whose builder of `notes` waits for the file `go`."""
    monkeypatch.setattr(owner_module, "WAIT_FOR_INDEX", timedelta(milliseconds=20))
    shelves = open_retrieval_home(home)
    library = Library(shelves.catalogue, shelves.store, shelves.index, lambda: None)
    command = ["-c", HELD.format(go=str(tmp_path / "go")), "--home", str(home), "--encoder", "none"]
    opened = CountingOwner(shelves, library, command)
    await opened.open()
    runner = web.AppRunner(create_index_app(opened, library), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    opened.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield opened
    await opened.close()
    await runner.cleanup()
    shelves.close()


async def test_a_search_asks_again_until_the_first_index_is_there(
    owner: CountingOwner, notes_collection: Collection, tmp_path: Path
) -> None:
    await owner.build(notes_collection)
    async with IndexClient(owner.address) as client:
        search = asyncio.create_task(client.search("tolls for ships", 3, NOTES))
        while owner.asked < 3:
            assert not search.done()
            await asyncio.sleep(0.02)
        (tmp_path / "go").touch()
        assert "tolls" in (await search)[0].text


async def test_a_search_that_has_waited_long_says_why(
    owner: CountingOwner, notes_collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "WAIT_FOR_BUILD", timedelta(0))
    await owner.build(notes_collection)
    async with IndexClient(owner.address) as client:
        with pytest.raises(ToolError, match="'notes' is still being built"):
            await client.search("tolls for ships", 3, NOTES)


async def test_what_is_ready_is_searched_while_another_collection_is_built(
    owner: CountingOwner, notes_collection: Collection
) -> None:
    await owner.build(notes_collection)
    async with IndexClient(owner.address) as client:
        await client.search("annexation", 1, SearchFilter())  # the default collection is built
        both = SearchFilter(collections=("notes", "sotu"))
        assert "Texas" in (await client.search("annexation of Texas", 1, both))[0].text
