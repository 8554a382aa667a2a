"""The tools of the MCP servers that the settings name."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from retrieval.outside.entrance import Entrance
from retrieval.outside.failure import CallFailed
from retrieval.outside.mcp.configuration import read_servers
from workflows.agents.ports import Tool
from workflows.tools.mcp import McpTool

if TYPE_CHECKING:
    from retrieval.outside.mcp.server import McpServer

MOST_TOOLS = 64

log = logging.getLogger(__name__)


class ConnectedTools(NamedTuple):
    """The tools of all servers: those that only read, and those that may write by the names by which an asker agrees to them."""

    reading: Sequence[Tool]
    writing: Mapping[str, Tool]


@asynccontextmanager
async def connect_mcp_tools(path: Path | None, entrance: Entrance, accounts: Path | None = None) -> AsyncIterator[ConnectedTools]:
    """Yield the tools of all servers that answer now, connected while the context lasts. Other servers are logged and left out.

    `accounts` is the folder of the accounts that people connected.

    Raises:
        SetupError: the file cannot be used.
    """
    if path is None:
        yield ConnectedTools((), {})
        return
    # Loaded here: the library is large, and most workers have no MCP servers.
    from retrieval.outside.mcp.server import McpServer

    servers = [McpServer(name, configuration, accounts) for name, configuration in read_servers(path).items()]
    try:
        found = await asyncio.gather(*(_list_tools(server, entrance) for server in servers))
        named = _name_apart(tool for tools in found for tool in tools)
        writing = {tool.full_name: tool for tool in named if tool.writes}
        if writing:
            log.info("tools that may write, which only runs have whose asker names them: %s", ", ".join(sorted(writing)))
        yield ConnectedTools([tool for tool in named if not tool.writes], writing)
    finally:
        await asyncio.gather(*(server.close() for server in servers))


async def _list_tools(server: "McpServer", entrance: Entrance) -> list[McpTool]:
    try:
        offers = await server.list_offers()
    except CallFailed as error:
        log.warning("the MCP server %s is left out until the worker starts again: %s", server.name, error)
        return []
    wanted = {*(server.configuration.tools or ()), *server.configuration.read_only}
    if missing := wanted - {offer.name for offer in offers}:
        log.warning("the MCP server %s has no tools of these names: %s", server.name, ", ".join(sorted(missing)))
    if len(offers) > MOST_TOOLS:
        message = "the MCP server %s has %d tools, of which the first %d are used; name in its `tools` those you need"
        log.warning(message, server.name, len(offers), MOST_TOOLS)
    return [McpTool(server, offer, entrance, server.configuration.per_second) for offer in offers[:MOST_TOOLS]]


def _name_apart(tools: Iterable[McpTool]) -> list[McpTool]:
    """Number the tools whose names became equal because letters were replaced: agents know a tool by its name only."""
    named: dict[str, McpTool] = {}
    for tool in tools:
        plain, number = tool.name, 1
        while tool.name in named:
            number += 1
            tool.name = f"{plain}_{number}"
        named[tool.name] = tool
    return list(named.values())
