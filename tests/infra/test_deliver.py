"""Where a report is written for its reader, and what happens when the disk takes no more."""

import hashlib
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from app.domain.errors import SetupError
from infra.cli.connection import open_api
from infra.cli.deliver import deliver_report
from rubrica_client import AsyncClient

TEXT = "He said so. And so did she."
NAME = hashlib.sha256(TEXT.encode()).hexdigest()
CITATION = {"n": 1, "quote": "He said so.", "start": 0, "end": 11, "source": {"snapshot": NAME}}
GONE = {"n": 2, "quote": "So he left.", "start": 0, "end": 11, "source": {"snapshot": "0" * 64, "title": "ledger.pdf"}}
PAGE, REPORT = "<p>short</p>", "He said so [1]. " * 200


@pytest.fixture
async def api() -> AsyncIterator[AsyncClient]:
    """An API with one finished report."""

    async def report(request: web.Request) -> web.Response:
        return web.Response(text=PAGE if "html" in request.headers["Accept"] else REPORT)

    async def evidence(request: web.Request) -> web.Response:
        return web.json_response({"citations": [CITATION] if request.match_info["run"] == "r1" else [CITATION, GONE]})

    async def snapshot(_: web.Request) -> web.Response:
        return web.Response(text=TEXT)

    app = web.Application()
    app.router.add_get("/v1/runs/{run}/report", report)
    app.router.add_get("/v1/runs/{run}/evidence", evidence)
    app.router.add_get(f"/v1/snapshots/{NAME}", snapshot)
    async with TestServer(app) as server, open_api(str(server.make_url(""))) as client:
        yield client


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file may grow beyond `size` bytes: a write stops in the middle, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


async def test_a_full_disk_leaves_no_half_report_and_says_how_to_have_it_written(api: AsyncClient, tmp_path: Path) -> None:
    said = r"finished and kept, but .*; make room there, then `rubrica runs watch r1` writes it"
    with pytest.raises(SetupError, match=said), room_for(1_000):
        await deliver_report(api, "r1", tmp_path)
    assert files(tmp_path) == {f"{NAME}.txt", "evidence.json", "report.html"}
    path = await deliver_report(api, "r1", tmp_path)
    assert path.read_text() == REPORT


async def test_a_report_whose_source_was_deleted_is_written_and_the_missing_copy_is_named(
    api: AsyncClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = await deliver_report(api, "r2", tmp_path)
    assert files(tmp_path) == {f"{NAME}.txt", "evidence.json", "report.html", "report.md"}
    assert path.read_text() == REPORT
    assert "citation [2]: the stored copy of 'ledger.pdf' was deleted" in capsys.readouterr().err
