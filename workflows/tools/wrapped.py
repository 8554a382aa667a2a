"""A tool wrapped in another. To agents it is the same tool."""

from collections.abc import Mapping
from typing import Any

from workflows.agents.ports import Tool


class WrappedTool:
    """A wrapper with the name, description and parameters of the inner tool; subclasses define `call`."""

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
