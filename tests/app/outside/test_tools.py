"""What the API says of the services outside, and the retriever address."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
from aiohttp import web

from app.accounts.nouns.access import LOCAL_ORGANISATION
from app.domain.outside_calls import CallEnding
from app.http.services import open_services
from app.outside.storage import OutsideStore
from tests.app.served_api import ApiClient, InMemoryRuns, serve_api


@pytest.fixture
async def index() -> AsyncIterator[str]:
    """An index owner with two pages."""
    pages = {"https://a.example": "All of A.", "https://b.example": "All of B."}

    async def search(request: web.Request) -> web.Response:
        asked = await request.json()
        if asked["collections"] == ["nowhere"]:
            return web.json_response({"error": "there is no collection 'nowhere'"}, status=404)
        urls = ["https://a.example", "https://b.example", "https://a.example"] if asked["query"] == "tariffs" else []
        return web.json_response({"passages": [{"source": {"url": url}} for url in urls]})

    async def read(request: web.Request) -> web.Response:
        return web.json_response({"text": pages[(await request.json())["url"]]})

    app = web.Application()
    app.add_routes([web.post("/search", search), web.post("/read", read)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


@pytest.fixture
async def api(api_urls: tuple[str, str], workflows: InMemoryRuns, index: str) -> AsyncIterator[ApiClient]:
    async with open_services(*api_urls, workflows, frozenset({"serper"}), index) as services, serve_api(services) as client:
        yield client


async def test_services_tell_what_turns_them_on_and_how_their_calls_went(api: ApiClient, pool: asyncpg.Pool) -> None:
    store, run, ours = OutsideStore(pool), UUID(await api.ask()), LOCAL_ORGANISATION
    await store.count(
        {
            CallEnding("serper", "answered", 300, run): 6,
            CallEnding("serper", "kept", 10, ours): 1,
            CallEnding("serper", "failed", 30_000, run): 1,
        }
    )
    await store.count({CallEnding("serper", "attempt_timed_out", 10_000, run): 4, CallEnding("page", "answered", 1_000, ours): 8})
    # What others did, and what was done for nobody, is none of ours.
    await store.count({CallEnding("serper", "failed", 300): 50, CallEnding("brave", "failed", 300, uuid4()): 50})
    told: dict[str, Any] = {item["name"]: item for item in (await api.get("/v1/tools")).json["items"]}
    serper, brave = told["serper"], told["brave"]
    assert (serper["on"], serper["calls"], serper["share"], serper["failure_rate"]) == (True, 8, 0.5, 0.125)
    assert (serper["kept"], serper["failed_attempts"], serper["p50_ms"], serper["p95_ms"]) == (1, {"timed_out": 4}, 300, 30_000)
    assert serper["within_ms"] == {"10": 1, "300": 6, "30000": 1}
    assert (brave["on"], brave["variable"], brave["calls"]) == (False, "RUBRICA_BRAVE_API_KEY", 0)
    assert (told["page"]["calls"], told["page"]["kind"]) == (8, "pages")


async def test_pages_come_in_the_form_of_a_custom_retriever(api: ApiClient) -> None:
    found = await api.get("/v1/retrieve?query=tariffs")
    assert found.json == [
        {"url": "https://a.example", "raw_content": "All of A."},
        {"url": "https://b.example", "raw_content": "All of B."},
    ]
    assert (await api.get("/v1/retrieve?query=tariffs&max_results=1")).json == found.json[:1]
    assert (await api.get("/v1/retrieve?query=nothing")).json == []


async def test_what_cannot_be_retrieved_is_a_problem(api: ApiClient, api_urls: tuple[str, str], workflows: InMemoryRuns) -> None:
    assert (await api.get("/v1/retrieve")).is_problem(400)
    refused = await api.get("/v1/retrieve?query=tariffs&collection=nowhere")
    assert refused.is_problem(400)
    assert "nowhere" in refused.json["detail"]
    async with open_services(*api_urls, workflows) as services, serve_api(services) as without:
        missing = await without.get("/v1/retrieve?query=tariffs")
        assert missing.is_problem(503)
        assert "RUBRICA_RETRIEVAL_URL" in missing.json["detail"]
