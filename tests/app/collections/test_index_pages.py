"""Pages of the index for other programs."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from app.http.services import open_services
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
    async with open_services(*api_urls, workflows, retrieval_url=index) as services, serve_api(services) as client:
        yield client


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
