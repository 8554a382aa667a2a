"""The tools of the MCP servers that the settings name."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.outside.entrance import Entrance
from retrieval.outside.failure import CallFailed
from retrieval.outside.mcp.configuration import read_servers
from workflows.agents.ports import Tool
from workflows.tools.mcp import McpTool

if TYPE_CHECKING:
    from retrieval.outside.mcp.server import McpServer

log = logging.getLogger(__name__)


@asynccontextmanager
async def connect_mcp_tools(path: Path | None, entrance: Entrance) -> AsyncIterator[list[Tool]]:
    """Yield the tools of all servers that answer now, connected while the context lasts. Other servers are logged and left out.

    Raises:
        SetupError: the file cannot be used.
    """
    if path is None:
        yield []
        return
    # Loaded here: the library is large, and most workers have no MCP servers.
    from retrieval.outside.mcp.server import McpServer

    servers = [McpServer(name, configuration) for name, configuration in read_servers(path).items()]
    try:
        found = await asyncio.gather(*(_list_tools(server, entrance) for server in servers))
        yield [tool for tools in found for tool in tools]
    finally:
        await asyncio.gather(*(server.close() for server in servers))


async def _list_tools(server: "McpServer", entrance: Entrance) -> list[Tool]:
    try:
        offers = await server.list_offers()
    except CallFailed as error:
        log.warning("the MCP server %s is left out until the worker starts again: %s", server.name, error)
        return []
    return [McpTool(server, offer, entrance, server.configuration.per_second) for offer in offers]
