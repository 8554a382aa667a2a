"""Against a real SearXNG, which asks an engine of ours."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from infra.extras import SEARXNG
from infra.local.ports import find_free_port
from retrieval.outside import http
from retrieval.outside.entrance import Entrance
from retrieval.outside.memory import MemorySharedStore
from retrieval.outside.web.searching import OutsideSearch
from retrieval.outside.web.searxng import SearXNG
from tests.support.outside_stub import OutsideStub, answer_with, serve_outside
from tests.support.patience import PATIENCE_S

pytestmark = pytest.mark.extra("SearXNG")
RESULTS = [
    {"title": "The tariff of 1890", "url": "https://a.example/1890", "content": "It was defended as the <b>shield</b> of labor."},
    {"title": "Nothing to read", "url": "https://a.example/empty", "content": ""},
]


@pytest.fixture
async def engine() -> AsyncIterator[OutsideStub]:
    async with serve_outside(answer_with({"results": RESULTS})) as stub:
        yield stub


@pytest.fixture
async def searxng(tmp_path: Path, engine: OutsideStub) -> AsyncIterator[str]:
    port = find_free_port()
    settings = tmp_path / "settings.yml"
    settings.write_text(json.dumps(configuration(port, engine.url)))
    environment = {**os.environ, "SEARXNG_SETTINGS_PATH": str(settings)}
    log = (tmp_path / "searxng.log").open("wb")
    process = await asyncio.create_subprocess_exec(SEARXNG, "-m", "searx.webapp", env=environment, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    async with aiohttp.ClientSession() as session:
        while True:
            assert process.returncode is None, (tmp_path / "searxng.log").read_text()[-3_000:]
            try:
                async with session.get(f"{url}/healthz"):
                    break
            except aiohttp.ClientError:
                await asyncio.sleep(0.2)
    yield url
    process.kill()
    await process.wait()


def configuration(port: int, engine: str) -> object:
    """JSON is YAML too."""
    asked = {
        "name": "ours",
        "engine": "json_engine",
        "shortcut": "ou",
        "categories": "general",
        "enable_http": True,
        "timeout": PATIENCE_S,
    }
    read = {"results_query": "results", "url_query": "url", "title_query": "title", "content_query": "content"}
    return {
        "use_default_settings": {"engines": {"keep_only": ["ours"]}},
        "general": {"debug": False},
        "search": {"formats": ["html", "json"]},
        "outgoing": {"request_timeout": PATIENCE_S, "max_request_timeout": PATIENCE_S},
        "server": {"secret_key": "tests", "bind_address": "127.0.0.1", "port": port, "limiter": False},
        "engines": [{**asked, **read, "search_url": f"{engine}/?q={{query}}"}],
    }


@pytest.mark.slow
async def test_a_real_searxng_is_searched(searxng: str, engine: OutsideStub) -> None:
    async with http.open_exchange() as exchange:
        search = OutsideSearch("web", Entrance(MemorySharedStore()), exchange, [SearXNG(searxng)])
        passages, note = await search.search("shield of labor", 5)
    assert engine.seen[0].query["q"] == "shield of labor"
    assert note == "web: searxng"
    assert {(p.source.url, p.text) for p in passages} == {
        ("https://a.example/1890", "It was defended as the shield of labor."),
        ("https://a.example/empty", "Nothing to read"),
    }
