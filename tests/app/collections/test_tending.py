"""Nobody's documents keep everybody else's waiting: not those that cannot be read, nor those that runs still search."""

from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import asyncpg
import pytest
from aiohttp import web

from app.collections.nouns import index_name_of
from app.collections.service import indexing
from app.collections.service.document_files import DocumentFiles
from app.collections.service.index_owner import IndexService
from app.collections.service.indexing import CollectionTender
from app.domain.errors import Unavailable
from app.http.services import Services
from tests.app.collections.conftest import send, settled
from tests.app.conftest import NewRun
from tests.app.database.conftest import OrganisationWithRun
from tests.app.served_api import serve_api

UNREADABLE = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<<>>>>>>endobj
4 0 obj<</Length 3/Filter/X#00Y>>stream
abc
endstream endobj
trailer<</Root 1 0 R>>
startxref
0
%%EOF
"""
COLLECTION = "INSERT INTO collections (id, name, everyone) VALUES ($1, $2, true)"
DOCUMENT = """
    INSERT INTO collection_documents (id, collection_id, name, bytes, state, snapshot, deleted_at)
    VALUES ($1, $2, gen_random_uuid()::text, 1, $3::text, $4, CASE WHEN $3::text = 'deleting' THEN now() END)"""
SEARCHED = "INSERT INTO collection_runs (collection_id, run_id) VALUES ($1, $2)"
PAGES = {"words": (500, "Internal Server Error"), "page": (502, "<html>"), "lost": (404, "<html>"), "list": (200, "[]")}


class StubIndex:
    """An index owner that counts what is asked of each collection. It knows none, and tells a NUL of the `broken` ones."""

    def __init__(self) -> None:
        self.looks: Counter[str] = Counter()
        self.built: list[str] = []
        self.broken: dict[str, UUID] = {}

    async def documents(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        self.looks[name] += 1
        if name not in self.broken:
            return web.json_response({"error": "no such collection"}, status=404)
        told = {"id": str(self.broken[name]), "state": "failed", "detail": "\0", "snapshot": "", "characters": 0}
        return web.json_response({"documents": [told], "strays": 0})

    async def progress(self, request: web.Request) -> web.Response:
        if request.match_info["name"] not in self.broken:
            return web.json_response({"error": "no such collection"}, status=404)
        return web.json_response({"building": False, "build": None})

    async def build(self, request: web.Request) -> web.Response:
        self.built.append(request.match_info["name"])
        return web.json_response({})

    async def answer_strangely(self, request: web.Request) -> web.Response:
        status, text = PAGES[request.match_info["kind"]]
        return web.Response(status=status, text=text)


@pytest.fixture
async def index() -> StubIndex:
    return StubIndex()


@pytest.fixture
async def service(index: StubIndex) -> AsyncIterator[IndexService]:
    app, one = web.Application(), "/collections/{name}"
    app.add_routes([web.get(f"{one}/documents", index.documents), web.get(f"{one}/progress", index.progress)])
    app.add_routes([web.post(f"{one}/build", index.build), web.get("/{kind}", index.answer_strangely)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield IndexService(f"http://127.0.0.1:{runner.addresses[0][1]}")
    await runner.cleanup()


@pytest.fixture
def files(tmp_path: Path) -> DocumentFiles:
    return DocumentFiles(tmp_path)


@pytest.fixture
def tender(pool: asyncpg.Pool, files: DocumentFiles, service: IndexService, monkeypatch: pytest.MonkeyPatch) -> CollectionTender:
    """A worker whose collections rest for longer than a slow machine takes for a test."""
    for name in ("AFTER_FAILURE", "FOR_RUNS"):
        monkeypatch.setattr(indexing, name, timedelta(days=1))
    return CollectionTender(pool, files, service)


async def add_collection(pool: asyncpg.Pool, state: str, snapshot: str = "") -> tuple[UUID, UUID]:
    """Add a collection with one document."""
    collection, document = uuid4(), uuid4()
    await pool.execute(COLLECTION, collection, str(collection))
    await pool.execute(DOCUMENT, document, collection, state, snapshot)
    return collection, document


async def add_received(pool: asyncpg.Pool, files: DocumentFiles) -> str:
    """Add a collection with a document that was just received, and return the index's name of it."""
    collection, document = await add_collection(pool, "received")
    organisation = await pool.fetchval("SELECT organisation_id FROM collections WHERE id = $1", collection)
    files.folder_of_document(organisation, collection, document).mkdir(parents=True)
    return index_name_of(collection)


async def test_a_pdf_that_no_filter_reads_fails_alone(
    services: Services, two: tuple[OrganisationWithRun, OrganisationWithRun]
) -> None:
    async with serve_api(services, two[0].key) as odd, serve_api(services, two[1].key) as plain:
        collection = (await odd.post("/v1/collections", {"name": "Odd"})).json["id"]
        await send(odd, collection, ("odd.pdf", UNREADABLE), ("plain.txt", b"The plain words of the odd collection."))
        held = await settled(odd, collection)
        assert {name: d["state"] for name, d in held.items()} == {"odd.pdf": "failed", "plain.txt": "indexed"}
        assert "has no text" in held["odd.pdf"]["detail"]
        collection = (await plain.post("/v1/collections", {"name": "Plain"})).json["id"]
        await send(plain, collection, ("plain.txt", b"The harbour of the others."))
        assert (await settled(plain, collection))["plain.txt"]["state"] == "indexed"


async def test_an_unexpected_error_of_one_collection_leaves_the_others_and_is_not_repeated_at_once(
    pool: asyncpg.Pool, files: DocumentFiles, index: StubIndex, tender: CollectionTender, caplog: pytest.LogCaptureFixture
) -> None:
    broken = dict([await add_collection(pool, "received") for _ in range(3)])
    index.broken = {index_name_of(collection): document for collection, document in broken.items()}
    good = [await add_received(pool, files) for _ in range(3)]
    await tender.tend()
    await tender.tend()
    assert Counter(index.built) == dict.fromkeys(good, 2)
    assert {name: index.looks[name] for name in index.broken} == dict.fromkeys(index.broken, 1)
    assert "CharacterNotInRepertoireError" in caplog.text


@pytest.mark.parametrize("kind", PAGES)
async def test_an_answer_that_is_not_the_indexs_is_an_outage(service: IndexService, kind: str) -> None:
    with pytest.raises(Unavailable, match=str(PAGES[kind][0])):
        await service.call("GET", f"/{kind}")


async def test_collections_that_wait_for_a_run_keep_nobody_waiting(
    pool: asyncpg.Pool, files: DocumentFiles, index: StubIndex, tender: CollectionTender, new_run: NewRun
) -> None:
    run = await new_run()
    waiting = []
    for _ in range(indexing.PAGE + 2):
        collection, _ = await add_collection(pool, "deleting", "f" * 64)
        await pool.execute(SEARCHED, collection, run)
        waiting.append(index_name_of(collection))
    new = [await add_received(pool, files) for _ in range(5)]
    await tender.tend()
    assert set(new) <= set(index.built)
    await tender.tend()
    assert {name: index.looks[name] for name in waiting} == dict.fromkeys(waiting, 1)
    last = UUID(waiting[-1].removeprefix("own-"))
    await pool.execute(DOCUMENT, uuid4(), last, "deleting", "")
    await tender.tend()
    assert index.looks[waiting[-1]] == 2, "what is new in a collection that waits is looked at"
    assert await pool.fetchval("SELECT count(*) FROM collection_documents WHERE collection_id = $1", last) == 1
    await pool.execute("UPDATE runs SET finished_at = now() WHERE id = $1", run)
