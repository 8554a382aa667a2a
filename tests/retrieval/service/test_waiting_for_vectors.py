"""A search of a small collection waits for the vectors that are being made, with a real builder and a slow embeddings server."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from app.domain.errors import NotFound
from retrieval.encoding.encoder import EncoderBackend, EncoderOnFirstUse, open_encoder
from retrieval.encoding.encoder_endpoint import EmbeddingsServer
from retrieval.ports import SearchFilter
from retrieval.search.library import Library
from retrieval.service.owner import IndexOwner
from retrieval.store.catalogue import Collection, CorpusKind
from retrieval.store.home import open_retrieval_home
from tests.retrieval.encoding.model_server import KEY, ModelServer

NOTES = SearchFilter(collections=("notes",), tenant="ours")
FOREVER = timedelta(hours=1)


class HeldServer(ModelServer):
    """A server that encodes one text at once, as a builder begins, and several when `released`."""

    def __init__(self) -> None:
        super().__init__()
        self.released = threading.Event()

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        """Wait, then answer."""
        if len(body["input"]) > 1:
            self.released.wait()
        return super().answer(path, body)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldServer]:
    started = HeldServer()
    started.start()
    for name, value in (("URL", started.url), ("MODEL", "held"), ("API_KEY", KEY)):
        monkeypatch.setenv(f"RUBRICA_EMBEDDINGS_{name}", value)
    yield started
    started.released.set()
    started.stop()


@asynccontextmanager
async def open_owner(home: Path, longest: timedelta) -> AsyncIterator[IndexOwner]:
    """Open an owner whose searches ask a server of their own for the same model, which is never held."""
    free = ModelServer()
    free.start()
    shelves = open_retrieval_home(home)
    asked = EmbeddingsServer(url=free.url, model="held", api_key=KEY)
    encoder = EncoderOnFirstUse(lambda: open_encoder(EncoderBackend.AUTO, None, home, server=asked))
    library = Library(shelves.catalogue, shelves.store, shelves.index, encoder)
    owner = IndexOwner(shelves, library, ["-m", "retrieval.building.builder", "--home", str(home)], longest)
    await owner.open()
    try:
        yield owner
    finally:
        await owner.close()
        shelves.close()
        free.stop()


async def add_notes(owner: IndexOwner, notes: Path) -> None:
    await owner.build(Collection(name="notes", kind=CorpusKind.FOLDER, path=str(notes), tenant="ours"))
    while owner.state_of("notes")["build"]["phase"] != "encoding":
        await asyncio.sleep(0.02)


async def test_a_small_collection_is_searched_by_meaning_from_the_first_search_on(
    home: Path, notes: Path, server: HeldServer
) -> None:
    async with open_owner(home, FOREVER) as owner:
        await add_notes(owner, notes)
        searching = asyncio.create_task(owner.search("canal", 3, NOTES))
        with pytest.raises(NotFound):  # a stranger is answered at once
            await owner.search("canal", 3, SearchFilter(collections=("notes",), tenant="theirs"))
        assert await owner.respell(["canal", "photosynthesis"], NOTES) == {"photosynthesis": ""}, "spelling needs no vectors"
        assert not searching.done()
        server.released.set()
        assert len(await searching) == 3, "the passages without the word as well"
        assert owner.state_of("notes")["dense"]


async def test_a_search_waits_while_the_finished_vectors_are_opened(
    home: Path, notes: Path, server: HeldServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening, opened, refresh = threading.Event(), threading.Event(), Library.refresh

    def refresh_when_told(library: Library, collection: str) -> None:
        opening.set()
        opened.wait()
        refresh(library, collection)

    async with open_owner(home, FOREVER) as owner:
        await add_notes(owner, notes)
        monkeypatch.setattr(Library, "refresh", refresh_when_told)
        server.released.set()
        await asyncio.to_thread(opening.wait)
        searching = asyncio.create_task(owner.search("canal", 3, NOTES))
        await asyncio.wait([searching], timeout=0.5)
        opened.set()
        assert len(await searching) == 3, "the passages without the word as well"


@pytest.mark.usefixtures("server")
async def test_the_wait_for_vectors_ends(home: Path, notes: Path) -> None:
    async with open_owner(home, timedelta(milliseconds=1)) as owner:
        await add_notes(owner, notes)
        assert await owner.search("canal", 3, NOTES)
        assert owner.state_of("notes")["build"]["phase"] == "encoding"
