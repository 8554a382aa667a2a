"""Servers with sessions, over streamable HTTP: they are restarted, and stand behind gateways."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.errors import ToolError
from retrieval.outside.entrance import Entrance
from retrieval.outside.memory import MemorySharedStore
from tests.support.mcp_http_stub import SessionedServer
from tests.workflows.tools.test_mcp import configured
from workflows.agents.ports import Tool
from workflows.durable.mcp_tools import connect_mcp_tools

LOOK_UP, ORDER = "mcp_shop_look_up", "mcp_shop_order"


@pytest.fixture
def server() -> SessionedServer:
    return SessionedServer()


@pytest.fixture
async def shop(tmp_path: Path, server: SessionedServer) -> AsyncIterator[dict[str, Tool]]:
    async with server.serve_url() as url:
        file = configured(tmp_path, shop={"url": url, "per_second": 50})
        async with connect_mcp_tools(file, Entrance(MemorySharedStore(), draw=lambda: 0.0)) as tools:
            yield {tool.name: tool for tool in tools}


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
