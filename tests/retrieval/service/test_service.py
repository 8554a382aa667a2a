"""The index owner as a process, over its socket, as the API and the workers use it."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from aiohttp import web

from app.domain.errors import Conflict, InvalidInput, NotFound, ToolError, ToolUnavailable
from app.domain.evidence import Passage, snapshot_hash
from retrieval.ports import SearchFilter
from retrieval.search.tenant_index import TenantView
from retrieval.service.client import IndexClient
from retrieval.service.owner import WAIT_FOR_INDEX
from tests.retrieval.service.owner_process import OwnerProcess
from workflows.durable.outage import Outage, ServerCircuit

NOTES = SearchFilter(collections=("notes",))


class PatientClient(IndexClient):
    """Searches again when a search has waited for the index as long as the service lets it: a busy machine builds for longer."""

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        while True:
            began = time.monotonic()
            try:
                return await super().search(query, limit, where)
            except ToolError as error:
                if "still being built" not in str(error):
                    raise
                assert time.monotonic() - began >= WAIT_FOR_INDEX.total_seconds()


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnerProcess]:
    started = OwnerProcess(tmp_path_factory.mktemp("service") / "home")
    yield started
    started.clean()


@pytest.fixture
async def other_server() -> AsyncIterator[str]:
    """The address of an HTTP server that is something else."""
    runner = web.AppRunner(web.Application())
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def finished(client: IndexClient, collection: str) -> dict[str, Any]:
    while (state := await client.read_progress(collection))["building"]:
        await asyncio.sleep(0.05)
    return state


async def builders_at_work(owner: OwnerProcess) -> list[psutil.Process]:
    """The processes that build for an owner, once some documents of the default corpus are stored."""
    async with PatientClient(str(owner.socket)) as client:
        while not (await client.read_progress("sotu"))["documents"]:
            await asyncio.sleep(0.02)
    return psutil.Process(owner.process.pid).children(recursive=True)


async def test_the_default_corpus_is_searched_at_first_start(owner: OwnerProcess) -> None:
    async with PatientClient(f"unix:{owner.socket}") as client:
        found = await client.search("annexation of Texas", 5, SearchFilter())
        assert len(found) == 5
        assert "Texas" in found[0].text
        document = await client.read(found[0].source.url)
        assert document.text[found[0].start : found[0].end] == found[0].text
        assert snapshot_hash(await client.get_snapshot(found[0].source.snapshot)) == found[0].source.snapshot
        assert found == sorted(found, key=lambda passage: -passage.score)
        assert await client.respell(["anexation", "Texas", "photosynthesis"], SearchFilter()) == {
            "anexation": "annexation",
            "photosynthesis": "",
        }
        assert await client.search("annexation of Texas", 5, SearchFilter()) == found


async def test_what_was_not_indexed_cannot_be_read(owner: OwnerProcess) -> None:
    async with PatientClient(str(owner.socket)) as client:
        with pytest.raises(ToolError, match="nothing is stored under"):
            await client.read("https://made.up/address")
        with pytest.raises(NotFound):
            await client.get_snapshot("0" * 64)
        with pytest.raises(ToolError, match="no collection 'nowhere'"):
            await client.search("x", 5, SearchFilter(collections=("nowhere",)))
        for query, limit in (("  ", 5), ("tariff", 0), ("tariff", 1_000)):
            with pytest.raises(ToolError):
                await client.search(query, limit, SearchFilter())


async def test_a_users_folder_is_built_searched_and_removed(owner: OwnerProcess, notes: Path) -> None:
    (notes / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    async with PatientClient(str(owner.socket)) as client:
        await client.build("notes", "folder", str(notes))
        found = await client.search("tolls for ships", 3, NOTES)
        assert [passage.source.url for passage in found] == ["file:///notes/canal.txt"]
        state = await finished(client, "notes")
        assert (state["documents"], state["passages"], state["build"]["phase"]) == (3, 3, "done")
        assert state["unreadable"][0]["path"] == "broken.pdf"
        assert {c["name"] for c in await client.list_collections()} == {"sotu", "notes"}
        chinese = await client.search("故宫", 3, SearchFilter(collections=("sotu", "notes"), language="zh"))
        assert [passage.source.collection for passage in chinese] == ["notes"]
        (notes / "canal.txt").write_text("The railway made the canal useless.")
        begun = await client.build("notes", "folder", str(notes))
        assert (begun["build"]["phase"], begun["build"]["number"]) == ("reading", 2)  # not the end of the build before
        await finished(client, "notes")
        assert [p.text for p in await client.search("railway tolls", 3, NOTES)] == ["The railway made the canal useless."]
        await client.remove("notes")
        with pytest.raises(NotFound):
            await client.read_progress("notes")


async def test_what_is_gone_or_failed_does_not_keep_a_search_from_the_other_collections(
    owner: OwnerProcess, notes: Path, tmp_path: Path
) -> None:
    (tmp_path / "failed").mkdir()
    async with PatientClient(str(owner.socket)) as client:
        await client.build("kept", "folder", str(notes))
        await client.build("failed", "beir", str(tmp_path / "failed"))
        assert (await finished(client, "failed"))["build"]["phase"] == "failed"
        where = SearchFilter(collections=("gone", "failed", "kept"))
        assert "tolls" in (await client.search("tolls for ships", 3, where))[0].text
        assert list(await client.respell(["voyaje", "tolls"], where)) == ["voyaje"]
        with pytest.raises(ToolError, match="'failed' has no index"):
            await client.search("tolls", 3, SearchFilter(collections=("gone", "failed")))
        for name in ("kept", "failed"):
            await client.remove(name)


async def test_an_address_of_two_folders_is_read_from_the_collections_of_the_reader(owner: OwnerProcess, tmp_path: Path) -> None:
    async with PatientClient(str(owner.socket)) as client:
        for name in ("acme", "bolt"):
            folder = tmp_path / name / "docs"
            folder.mkdir(parents=True)
            (folder / "README.md").write_text(f"The handbook of {name}.")
            await client.build(name, "folder", str(folder))
            await finished(client, name)
        for name in ("acme", "bolt"):
            (found,) = await client.search("handbook", 1, SearchFilter(collections=(name,)))
            read = await TenantView(client, None, (name,)).read(found.source.url)
            assert (read.source.collection, read.text) == (name, f"The handbook of {name}.")
        elsewhere = await TenantView(client, None, ("sotu",)).read("file:///docs/README.md")
        assert elsewhere.text == "The handbook of bolt.", "an address of an older report stays readable"
        for name in ("acme", "bolt"):
            await client.remove(name)


async def test_a_collection_tells_what_it_is_made_of_and_is_verified(owner: OwnerProcess, notes: Path) -> None:
    async with PatientClient(str(owner.socket)) as client:
        await client.build("made", "folder", str(notes), "CC0")
        await finished(client, "made")
        found = await client.read_statistics("made")
        assert (found["documents"], found["passages"], found["with_vectors"]) == (3, 3, 0)
        assert (found["languages"], found["licences"]) == ({"en": 2, "zh": 1}, {"CC0": 3})
        assert found["fetched_first"] <= found["fetched_last"]
        assert min(found["text_bytes"], found["index_bytes"]) > 0
        verified = await client.verify("made")
        assert (verified["documents"], verified["points"], verified["problems"]) == (3, 3, 0)
        with pytest.raises(NotFound):
            await client.verify("nowhere")
        with pytest.raises(NotFound):
            await client.read_statistics("nowhere")
        await client.remove("made")


async def test_management_says_what_is_wrong(owner: OwnerProcess, notes: Path) -> None:
    async with PatientClient(str(owner.socket)) as client:
        with pytest.raises(InvalidInput, match="nothing at"):
            await client.build("gone", "folder", str(notes / "gone"))
        with pytest.raises(InvalidInput, match="cannot name a collection"):
            await client.build("Bad..Name", "folder", str(notes))
        with pytest.raises(InvalidInput):
            await client.build("notes", "stone-tablets", str(notes))
        with pytest.raises(Conflict, match="default collection"):
            await client.remove("sotu")
        with pytest.raises(NotFound):
            await client.remove("nowhere")


async def test_many_searches_at_once_are_all_answered(owner: OwnerProcess) -> None:
    async with PatientClient(str(owner.socket)) as client:
        found = await asyncio.gather(*(client.search(f"tariff of {1800 + n}", 4, SearchFilter()) for n in range(64)))
        assert all(len(passages) == 4 for passages in found)


async def test_a_second_owner_of_a_home_is_refused(owner: OwnerProcess) -> None:
    command = [sys.executable, "-m", "retrieval.service.server", "--socket", f"{owner.socket}2", "--home", str(owner.home)]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "another process" in done.stderr


@pytest.mark.parametrize(("url", "reason"), [("http://127.0.0.1:9", "does not answer"), ("{other}", "is no Qdrant server")])
async def test_a_wrong_qdrant_address_is_said_at_start(other_server: str, tmp_path: Path, url: str, reason: str) -> None:
    command = [
        sys.executable,
        "-m",
        "retrieval.service.server",
        "--socket",
        str(tmp_path / "s"),
        "--home",
        str(tmp_path / "home"),
    ]
    command += ["--qdrant-url", url.format(other=other_server)]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
    assert done.returncode == 2
    assert reason in done.stderr


async def test_an_owner_that_is_not_there_is_worth_waiting_for(tmp_path: Path) -> None:
    async with PatientClient(str(tmp_path / "none.sock")) as client:
        with pytest.raises(ToolUnavailable, match="does not answer"):
            await client.search("x", 1, SearchFilter())


async def test_after_kill_9_or_damage_the_next_owner_goes_on(notes: Path, tmp_path: Path) -> None:
    owner = OwnerProcess(tmp_path / "home")
    try:
        builders = await builders_at_work(owner)
        os.kill(owner.process.pid, signal.SIGKILL)
        owner.process.wait()
        await asyncio.to_thread(psutil.wait_procs, builders)  # no orphan writes beside the next owner's builder
        async with PatientClient(str(owner.socket)) as client:
            waits = asyncio.Event()

            async def notice(reason: Outage, _: timedelta) -> None:
                waits.set()
                assert "the index does not answer" in str(reason)

            searching = asyncio.create_task(
                ServerCircuit().call(lambda: client.search("purchase of Louisiana", 3, SearchFilter()), notice)
            )
            await waits.wait()
            await asyncio.to_thread(owner.start)
            assert "Louisiana" in (await searching)[0].text
            state = await finished(client, "sotu")
            assert (state["documents"], state["build"]["phase"]) == (249, "done")
        assert await asyncio.to_thread(owner.stop) == 0
        index = owner.home / "retrieval" / "index"
        shutil.rmtree(next((index / os.readlink(index / "sotu")).glob("segments/*")))
        owner.start()
        async with PatientClient(str(owner.socket)) as client:
            assert await client.search("Monroe doctrine", 3, SearchFilter())
    finally:
        owner.clean()


async def test_a_builder_that_is_killed_is_started_again(tmp_path: Path) -> None:
    owner = OwnerProcess(tmp_path / "home")
    try:
        builders = await builders_at_work(owner)
        assert builders
        for builder in builders:
            builder.kill()
        async with PatientClient(str(owner.socket)) as client:
            assert await client.search("Monroe doctrine", 3, SearchFilter())
            assert (await finished(client, "sotu"))["build"]["phase"] == "done"
    finally:
        owner.clean()
