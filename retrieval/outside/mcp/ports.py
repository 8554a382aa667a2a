"""What a tool of an MCP server needs: its description, and something that calls it. Free of the library, which is large."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol


class Offer(NamedTuple):
    """A tool as a server describes it. `repeatable`: calling it twice does no harm, says the server."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    repeatable: bool


class ToolServer(Protocol):
    """One server, connected."""

    @property
    def name(self) -> str:
        """The server's name in the configuration."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """The text a tool answers with; `CallFailed` when it does not."""
        ...
