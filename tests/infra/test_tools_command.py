"""`rubrica tools` and `rubrica mcp`, as a person and an MCP client use them."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from mcp import Client, StdioServerParameters

from tests.support.scripted_api import RUN_ID, ScriptedApi, make_run_events, serve_scripted_api
from tests.support.stack import RUBRICA, command_environment, run_rubrica

PASSAGE = {
    "source": {"url": "https://a.example", "title": "A", "snapshot": "0" * 64},
    "text": "Duties rose.",
    "start": 0,
    "end": 12,
}


@pytest.fixture
async def index() -> AsyncIterator[str]:
    async def search(_: web.Request) -> web.Response:
        return web.json_response({"passages": [PASSAGE]})

    async def read(request: web.Request) -> web.Response:
        if (await request.json())["url"] != "https://a.example":
            return web.json_response({"error": "nothing is stored there"}, status=404)
        return web.json_response({"source": PASSAGE["source"], "text": "Duties rose. " * 3_000})

    app = web.Application()
    app.add_routes([web.post("/search", search), web.post("/read", read)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


def test_tools_lists_what_is_on_and_what_turns_the_others_on(tmp_path: Path) -> None:
    done = run_rubrica(tmp_path, "tools", RUBRICA_BRAVE_API_KEY="k", RUBRICA_CONTACT_EMAIL="me@example.org")
    assert done.returncode == 0, done.stderr
    lines = {line.split()[1]: line for line in done.stdout.splitlines() if line}
    assert lines["brave"].startswith("on ")
    assert "set RUBRICA_SERPER_API_KEY" in lines["serper"]
    assert lines["arxiv"].startswith("on ")
    assert lines["mcp"].endswith("set RUBRICA_MCP_SERVERS")


def test_a_malformed_address_is_refused_by_name(tmp_path: Path) -> None:
    done = run_rubrica(tmp_path, "tools", RUBRICA_CONTACT_EMAIL="nobody", RUBRICA_SEARXNG_URL="localhost")
    assert done.returncode == 2
    assert "RUBRICA_CONTACT_EMAIL is malformed: expected an e-mail address" in done.stderr
    assert "RUBRICA_SEARXNG_URL is malformed" in done.stderr


async def test_search_and_research_are_offered_to_mcp_clients(tmp_path: Path, index: str) -> None:
    async with serve_scripted_api(ScriptedApi(list(make_run_events()))) as api:
        environment = command_environment(RUBRICA_HOME=str(tmp_path), RUBRICA_API_URL=api, RUBRICA_RETRIEVAL_URL=index)
        parameters = StdioServerParameters(command=sys.executable, args=[*RUBRICA[1:], "mcp"], env=environment)
        async with Client(parameters) as client:
            offered = {tool.name: tool.description or "" for tool in (await client.list_tools()).tools}
            assert set(offered) == {"search", "read", "research_start", "research_status", "research_wait", "research_report"}
            assert all("own collections" in offered[name] for name in ("search", "read")), "their names and addresses fail here"
            found = await client.call_tool("search", {"query": "duties"})
            assert "Duties rose." in found.content[0].text  # type: ignore[union-attr]
            part = await client.call_tool("read", {"url": "https://a.example", "part": 2})
            assert part.structured_content is not None
            assert part.structured_content["parts"] == 2
            beyond = await client.call_tool("read", {"url": "https://a.example", "part": 99})
            assert beyond.structured_content == part.structured_content
            missing = await client.call_tool("read", {"url": "https://b.example"})
            assert missing.is_error
            assert "nothing is stored there" in missing.content[0].text  # type: ignore[union-attr]
            started = await client.call_tool("research_start", {"question": "Why tariffs?", "effort": "quick"})
            assert RUN_ID in started.content[0].text  # type: ignore[union-attr]
            wrong = await client.call_tool("research_start", {"question": "Why tariffs?", "effort": "best"})
            assert wrong.is_error
            assert "'quick', 'standard' or 'deep'" in wrong.content[0].text  # type: ignore[union-attr]
            assert not (await client.call_tool("research_status", {"run": RUN_ID})).is_error
            told: list[tuple[float, str | None]] = []

            async def note(progress: float, total: float | None, message: str | None) -> None:
                told.append((progress, message))

            waited = await client.call_tool("research_wait", {"run": RUN_ID}, progress_callback=note)
            assert "# Report [1]" in waited.content[0].text  # type: ignore[union-attr]
            assert [number for number, _ in told] == sorted({number for number, _ in told})
            assert len(told) > 3
            assert any((line or "").startswith("plan: ") for _, line in told)
            assert (told[0][1], told[-1][1]) == ("running", "completed because")
            report = await client.call_tool("research_report", {"run": RUN_ID})
            assert "# Report [1]" in report.content[0].text  # type: ignore[union-attr]


async def test_an_mcp_client_gets_the_report_of_a_run_whose_events_have_expired(tmp_path: Path, index: str) -> None:
    events = [("gap", "", {"after": 0, "next": 2})]
    async with serve_scripted_api(ScriptedApi(events, expired="completed")) as api:
        environment = command_environment(RUBRICA_HOME=str(tmp_path), RUBRICA_API_URL=api, RUBRICA_RETRIEVAL_URL=index)
        parameters = StdioServerParameters(command=sys.executable, args=[*RUBRICA[1:], "mcp"], env=environment)
        async with Client(parameters) as client:
            waited = await client.call_tool("research_wait", {"run": RUN_ID})
    assert not waited.is_error
    assert "# Report [1]" in waited.content[0].text  # type: ignore[union-attr]


async def test_an_mcp_client_reaches_nothing_but_runs_by_the_id_of_a_run(tmp_path: Path, index: str) -> None:
    api = ScriptedApi(list(make_run_events()))
    async with serve_scripted_api(api) as address:
        environment = command_environment(RUBRICA_HOME=str(tmp_path), RUBRICA_API_URL=address, RUBRICA_RETRIEVAL_URL=index)
        parameters = StdioServerParameters(command=sys.executable, args=[*RUBRICA[1:], "mcp"], env=environment)
        async with Client(parameters) as client:
            for tool in ("research_report", "research_status", "research_wait"):
                refused = await client.call_tool(tool, {"run": "../me/export?x="})
                assert refused.is_error
                assert "'../me/export?x=' is no id" in refused.content[0].text  # type: ignore[union-attr]
    assert not api.calls
