"""Documents that organisations sent: whose they are, hostile files, and that a deleted one is gone from the disk."""

import asyncio
import io
import json
import resource
import shutil
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from app.domain.errors import Conflict, NotFound, SourceUnreadable, ToolError
from retrieval.corpora.file_reader import FileReader
from retrieval.ports import SearchFilter
from retrieval.service.client import IndexClient
from tests.retrieval.service.owner_process import OwnerProcess

A, B = "own-aaaa", "own-bbbb"
MARKER = "The quokka ledger was sealed with zebrawood wax in Montevideo."
OURS, THEIRS = SearchFilter(collections=(A,), tenant="org-a"), SearchFilter(collections=(A,), tenant="org-b")


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnerProcess]:
    started = OwnerProcess(tmp_path_factory.mktemp("uploads") / "home")
    yield started
    started.clean()


def sent(root: Path, name: str, file: str, content: bytes) -> Path:
    """A document as whoever receives it leaves it."""
    folder = root / name
    folder.mkdir(parents=True)
    suffix = Path(file).suffix
    (folder / f"original{suffix}").write_bytes(content)
    (folder / "about.json").write_text(json.dumps({"name": file, "address": f"file:///Ledgers/{file}", "suffix": suffix}))
    return folder


def bomb() -> bytes:
    """A Word file whose text would unpack to 400 MiB."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("word/document.xml", b"0" * (400 << 20))
    return packed.getvalue()


def traces(home: Path, needle: bytes) -> set[str]:
    """Files under a home that hold these bytes, plainly or in a packed snapshot."""
    found = {path.name for path in home.rglob("*") if path.is_file() and needle in path.read_bytes()}
    with closing(sqlite3.connect(home / "retrieval" / "store.db")) as database:
        texts = [zlib.decompress(row[0]) for row in database.execute("SELECT text FROM snapshots")]
    return found | ({"snapshots"} if any(needle in text for text in texts) else set())


async def built(client: IndexClient, name: str, root: Path, tenant: str) -> None:
    await client.build(name, "uploads", str(root), tenant=tenant)
    while (await client.read_progress(name))["building"]:
        await asyncio.sleep(0.05)


async def test_a_collection_is_its_tenants_alone_and_what_is_deleted_leaves_no_trace(owner: OwnerProcess) -> None:
    ours, theirs = owner.home / "documents" / "a", owner.home / "documents" / "b"
    sent(ours, "d1", "ledger.md", f"# Ledger\n\nIt was kept for years. {MARKER}\r\n\r\nThen it was lost.".encode())
    sent(ours, "d2", "harbour.txt", b"The harbour was dredged twice. Its pilots were paid in salt.")
    sent(ours, "d3", "bomb.docx", bomb())
    sent(ours, "d4", "broken.pdf", b"%PDF-1.7 nothing of the kind")
    sent(theirs, "d1", "other.txt", b"The harbour of the other organisation has no pilots.")
    (ours / "half").mkdir()  # a sending that was cut off
    async with IndexClient(str(owner.socket)) as client:
        await built(client, A, ours, "org-a")
        await built(client, B, theirs, "org-b")
        states = {state["id"]: state for state in await client.list_documents(A)}
        assert {name: state["state"] for name, state in states.items()} == {
            "d1": "indexed", "d2": "indexed", "d3": "failed", "d4": "failed",
        }  # fmt: skip
        assert "would unpack" in states["d3"]["detail"]

        found = await client.search("zebrawood wax", 5, OURS)
        ledger = found[0].source
        assert MARKER in found[0].text
        assert (ledger.title, ledger.url) == ("ledger.md", "file:///Ledgers/ledger.md")
        assert MARKER in (await client.read(ledger.url, tenant="org-a")).text
        assert MARKER in await client.get_snapshot(ledger.snapshot, tenant="org-a")

        for where in (THEIRS, SearchFilter(collections=(A,))):
            with pytest.raises(ToolError, match="there is no collection 'own-aaaa'"):
                await client.search("zebrawood wax", 5, where)
        both = await client.search("harbour pilots zebrawood", 9, SearchFilter(collections=(B, A), tenant="org-b"))
        assert {passage.source.collection for passage in both} == {B}
        assert all("zebrawood" not in p.text for p in await client.search("zebrawood", 9, SearchFilter(tenant="org-b")))
        for tenant in ("org-b", None):
            with pytest.raises(ToolError, match="nothing is stored under"):
                await client.read(ledger.url, tenant=tenant)
            with pytest.raises(NotFound):
                await client.get_snapshot(ledger.snapshot, tenant=tenant)
        with pytest.raises(Conflict, match="somebody else"):
            await client.build(A, "uploads", str(theirs), tenant="org-b")

        read_at = (ours / "d2" / "read.json").stat().st_mtime_ns
        needles = [MARKER.encode(), ledger.snapshot.encode(), *_keys(owner.home, ledger.url)]
        assert all(traces(owner.home, needle) for needle in needles)  # the search for traces finds what is there
        shutil.rmtree(ours / "d1")
        await built(client, A, ours, "org-a")
        assert all(MARKER not in p.text for p in await client.search("zebrawood wax ledger", 5, OURS))
        assert [traces(owner.home, needle) for needle in needles] == [set()] * len(needles)
        assert (ours / "d2" / "read.json").stat().st_mtime_ns == read_at  # what stays is not read again
        assert (await client.search("pilots paid in salt", 5, OURS))[0].source.title == "harbour.txt"
        await client.remove(A)
        shutil.rmtree(ours)
        assert not traces(owner.home, b"dredged twice")
        assert (await client.search("harbour", 5, SearchFilter(collections=(B,), tenant="org-b")))[0].text.startswith("The har")


def _keys(home: Path, url: str) -> list[bytes]:
    """The key by which the index knows a document."""
    with closing(sqlite3.connect(home / "retrieval" / "store.db")) as database:
        return [row[0].encode() for row in database.execute("SELECT key FROM documents WHERE url = ?", (url,))]


PDF = b"""%%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[%s]/Count 1>>endobj
%s
trailer<</Root 1 0 R>>"""
PAGE = b"""3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R>>endobj
4 0 obj<</Length %d/Filter/FlateDecode>>stream
%s
endstream endobj"""
PACKED = zlib.compress(b"BT (x) Tj ET " * (20 << 20))
HOSTILE = {
    "unpacks to 260 MiB": (".pdf", PDF % (b"3 0 R", PAGE % (len(PACKED), PACKED))),
    "is its own page": (".pdf", PDF % (b"2 0 R", b"")),
    "nests without end": (".html", b"<p>" + b"<div>" * 200_000 + b"deep"),
    "is a bomb": (".docx", bomb()),
}


def test_hostile_files_cost_a_child_and_nothing_else() -> None:
    with FileReader(limit=timedelta(seconds=5)) as reader:
        for suffix, content in HOSTILE.values():
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            _read_or_refused(reader, suffix, content)
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 600_000  # KiB, of this process
            assert reader.read(".txt", b"Still alive.").text == "Still alive."
    with FileReader(limit=timedelta(seconds=0.01)) as hurried, pytest.raises(SourceUnreadable, match="too long or too much"):
        hurried.read(".txt", b"No child starts this fast.")


def _read_or_refused(reader: FileReader, suffix: str, content: bytes) -> None:
    """Either is right; to fail otherwise or to hang is not."""
    try:
        assert len(reader.read(suffix, content).text) < 300 << 20
    except SourceUnreadable:
        return
