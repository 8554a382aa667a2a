"""The interface of an MCP server's tools: a description, and a caller. It does not import the library, which is large."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol


class ToolOffer(NamedTuple):
    """A server's description of a tool. `repeatable`: the server says that calling it twice does no harm.

    `writes`: calling it may change something, because neither the server nor the configuration says that it only reads.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    repeatable: bool
    writes: bool


class ToolServer(Protocol):
    """One connected server."""

    @property
    def name(self) -> str:
        """The server's name in the configuration."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Call a tool, and return the text of its answer. Raises `CallFailed` when there is none."""
        ...
