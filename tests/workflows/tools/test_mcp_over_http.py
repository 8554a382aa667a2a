"""Servers over streamable HTTP: they have many tools, are restarted, and stand behind gateways."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from app.domain.errors import ToolError
from retrieval.outside.entrance import Entrance
from retrieval.outside.memory import MemorySharedStore
from tests.support.mcp_http_stub import SessionedServer
from tests.workflows.tools.test_mcp import configured
from workflows.agents.ports import Tool
from workflows.durable.mcp_tools import MOST_TOOLS, connect_mcp_tools

LOOK_UP, ORDER = "mcp_shop_look_up", "mcp_shop_order"


@pytest.fixture
def server() -> SessionedServer:
    return SessionedServer()


@pytest.fixture
async def shop(tmp_path: Path, server: SessionedServer) -> AsyncIterator[dict[str, Tool]]:
    async with server.serve_url() as url:
        file = configured(tmp_path, shop={"url": url, "per_second": 50})
        async with connect_mcp_tools(file, Entrance(MemorySharedStore(), draw=lambda: 0.0)) as found:
            yield {tool.name: tool for tool in (*found.reading, *found.writing.values())}


@pytest.mark.parametrize("name", [LOOK_UP, ORDER])
async def test_a_server_that_forgot_the_session_is_joined_again(
    shop: dict[str, Tool], server: SessionedServer, name: str
) -> None:
    await shop[name].call({})
    server.sessions.clear()
    result = await shop[name].call({"n": 2})
    assert result.passages[0].text == "call 2", "it was refused unread, so it is made again, whatever the tool does"
    assert len(server.sessions) == 1


async def test_a_gateways_error_is_waited_out_where_a_call_may_be_repeated(
    shop: dict[str, Tool], server: SessionedServer
) -> None:
    server.refusals = 2
    assert (await shop[LOOK_UP].call({})).passages[0].text == "call 1"
    server.refusals = 1
    with pytest.raises(ToolError, match="broke off"):
        await shop[ORDER].call({})
    assert server.calls == ["look_up"], "nobody knows whether the order arrived"


async def open_tools(folder: Path, listed: Sequence[str], **options: object) -> dict[str, str]:
    """Return what agents know of the tools of such a server: names and descriptions."""
    server = SessionedServer([(name, True) for name in listed])
    async with server.serve_url() as url:
        file = configured(folder, shop={"url": url, **options})
        async with connect_mcp_tools(file, Entrance(MemorySharedStore())) as found:
            return {tool.name: tool.description for tool in found.reading}


async def test_a_tool_that_is_named_is_found_wherever_it_is_listed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    listed = [f"tool{number}" for number in range(100)]
    found = await open_tools(tmp_path, listed, tools=["tool99", "tool2", "tool_3"])
    assert set(found) == {"mcp_shop_tool2", "mcp_shop_tool99"}
    assert "shop has no tools of these names: tool_3" in caplog.text


async def test_tools_beyond_the_most_are_left_out_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert len(await open_tools(tmp_path, [f"tool{number}" for number in range(100)])) == MOST_TOOLS
    assert "shop has 100 tools" in caplog.text


async def test_tools_whose_names_become_equal_stay_apart(tmp_path: Path) -> None:
    found = await open_tools(tmp_path, ["get-page", "get_page", "搜索", "阅读"])
    assert {name: said.split(" Each")[0] for name, said in found.items()} == {
        "mcp_shop_get_page": "is get-page",
        "mcp_shop_get_page_2": "is get_page",
        "mcp_shop": "is 搜索",
        "mcp_shop_2": "is 阅读",
    }


async def test_only_a_tool_that_is_called_read_only_and_not_destructive_reads(tmp_path: Path) -> None:
    hints: dict[str, dict[str, bool]] = {
        "reads": {"readOnlyHint": True},
        "writes": {"readOnlyHint": False},
        "repeats": {"idempotentHint": True, "destructiveHint": False},
        "empty": {},
        "contradicts": {"readOnlyHint": True, "destructiveHint": True},
    }
    server = SessionedServer([(name, True) for name in (*hints, "bare")], annotations=hints, bare=frozenset({"bare"}))
    entrance = Entrance(MemorySharedStore())
    async with server.serve_url() as url, connect_mcp_tools(configured(tmp_path, shop={"url": url}), entrance) as found:
        assert [tool.name for tool in found.reading] == ["mcp_shop_reads"]
        assert set(found.writing) == {f"shop.{name}" for name in (*hints, "bare") if name != "reads"}
