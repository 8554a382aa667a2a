"""Our MCP server over HTTP: a hosted client with a key of our API uses it, and finds only what is its organisation's."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import date
from uuid import UUID, uuid4

import asyncpg
import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from app.accounts.nouns.api_key import ApiKey
from app.accounts.service.bootstrap import ensure_owner
from app.database.engine import connect
from app.http.server import bind
from app.http.services import open_services
from app.runs.storage.run_log import RunLog
from infra.cli.connection import open_api
from infra.cli.mcp_serving import CallersWithKeys, make_configuration
from tests.app.finished_run import write_begin, write_end
from tests.app.served_api import InMemoryRuns, serve_api
from tests.support.accounts import HOME_KEY

PAGE = "https://rubrica.example"


@pytest.fixture
async def pool(postgres_url: str) -> AsyncIterator[asyncpg.Pool]:
    opened = await connect(postgres_url, largest=12)
    yield opened
    await opened.close()


@pytest.fixture
def workflows(pool: asyncpg.Pool) -> InMemoryRuns:
    return InMemoryRuns(RunLog(pool))


@pytest.fixture
async def endpoint(api_urls: tuple[str, str], workflows: InMemoryRuns) -> AsyncIterator[str]:
    """The address of the MCP server, in front of an API."""
    async with open_services(*api_urls, workflows) as services, serve_api(services) as api:
        with bind("127.0.0.1", 0) as listening:
            made = make_configuration(CallersWithKeys(), None, lambda key: open_api(api.address, key), PAGE)
            server = uvicorn.Server(made)
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
            server.should_exit = True
            await serving


@contextlib.asynccontextmanager
async def open_client(endpoint: str, key: ApiKey) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers) as http, Client(streamable_http_client(endpoint, http_client=http)) as client:
        yield client


def words_of(result: CallToolResult) -> str:
    return str(result.content[0].text)  # type: ignore[union-attr]


async def test_a_client_with_a_key_researches_within_its_bounds(
    endpoint: str, workflows: InMemoryRuns, pool: asyncpg.Pool
) -> None:
    asked = {
        "question": "Who taxed wool?",
        "effort": "quick",
        "published_from": "2020-01-01",
        "published_to": "2021-12-31",
        "max_cost": 0.5,
    }
    async with open_client(endpoint, HOME_KEY) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} >= {"research_start", "research_wait"}
        begun = (await client.call_tool("research_start", asked)).structured_content
        assert begun is not None
        run_id = UUID(begun["run"])
        assert begun["link"] == f"{PAGE}/watch?run={run_id}"
        [started] = workflows.started
        scope = started.query.scope
        assert scope is not None
        assert (scope.published_from, scope.published_to) == (date(2020, 1, 1), date(2021, 12, 31))
        assert started.query.budget.max_cost_microusd == 500_000
        await write_begin(workflows.log, run_id)
        waiting = asyncio.create_task(client.call_tool("research_wait", {"run": str(run_id)}))
        await write_end(pool, workflows.log, run_id)
        assert "Duties" in words_of(await waiting)


async def test_another_organisations_key_finds_no_run(endpoint: str, pool: asyncpg.Pool) -> None:
    stranger = ApiKey.new()
    async with pool.acquire() as connection:
        await ensure_owner(connection, stranger, uuid4(), uuid4(), "Theirs", f"{uuid4()}@example.org")
    async with open_client(endpoint, HOME_KEY) as ours, open_client(endpoint, stranger) as theirs:
        begun = (await ours.call_tool("research_start", {"question": "Who taxed wool?"})).structured_content
        assert begun is not None
        for tool in ("research_status", "research_wait", "research_report"):
            refused = await theirs.call_tool(tool, {"run": begun["run"]})
            assert refused.is_error
            assert begun["run"] in words_of(refused)


async def test_a_request_without_a_good_key_is_refused_with_what_to_do(endpoint: str) -> None:
    async with httpx2.AsyncClient() as http:
        for headers in ({}, {"Authorization": f"Bearer {ApiKey.new()}"}, {"Authorization": "Basic eDp5"}):
            reply = await http.post(endpoint, json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=headers)
            assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
            assert "Authorization: Bearer" in reply.json()["detail"]


async def test_a_name_that_is_not_ours_is_refused(endpoint: str) -> None:
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {HOME_KEY}", "Host": "evil.example"}) as http:
        assert (await http.post(endpoint, json={})).status_code == 421


async def test_what_the_api_refuses_is_told_to_the_client(endpoint: str) -> None:
    async with open_client(endpoint, HOME_KEY) as client:
        refused = await client.call_tool("research_start", {"question": " "})
        assert refused.is_error
        assert "question" in words_of(refused)
