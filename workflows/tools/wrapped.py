"""A tool inside another: to agents it is the same tool."""

from collections.abc import Mapping
from typing import Any

from workflows.agents.ports import Tool


class Wrapped:
    """Name, description and parameters of the tool inside; how it is called is the wrapper's affair."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool

    @property
    def name(self) -> str:
        """The tool's name."""
        return self._tool.name

    @property
    def description(self) -> str:
        """The tool's description."""
        return self._tool.description

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The tool's parameters."""
        return self._tool.parameters
