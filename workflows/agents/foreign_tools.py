"""Tools of other providers (their names begin with `mcp_`): their inputs are JSON objects in the tool's own schema."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

import orjson
from pydantic import StringConstraints

from workflows.agents.parsing import parse_leniently
from workflows.agents.ports import Tool

FOREIGN_PREFIX = "mcp_"
SCHEME = "mcp://"
"""How the addresses of their answers begin; the name of their server follows."""
_OTHER = re.compile(r"[^a-z0-9]+")
ForeignToolName = Annotated[str, StringConstraints(pattern=f"^{FOREIGN_PREFIX}[a-z0-9_]+$")]


def make_foreign_name(*parts: str) -> str:
    """Return the name of a server's tool, or how the names of all its tools begin: of other letters `_` stands for a run."""
    return FOREIGN_PREFIX + _OTHER.sub("_", "_".join(parts).lower()).strip("_")


def is_foreign_tool(name: str) -> bool:
    """Say whether a tool of this name comes from another provider."""
    return name.startswith(FOREIGN_PREFIX)


def as_inputs(arguments: Any) -> list[str]:
    """Return arguments as an action's inputs: each object as JSON, a text unchanged."""
    several = arguments if isinstance(arguments, list | tuple) else [arguments]
    return [one if isinstance(one, str) else orjson.dumps(one).decode() for one in several if one]


def arguments_of(tool: Tool, said: str) -> dict[str, Any]:
    """Return the arguments of an input: its JSON object, or the text as the only argument of a tool that takes one."""
    found = parse_leniently(said)
    if isinstance(found, dict):
        return {str(name): value for name, value in found.items()}
    properties: Mapping[str, Any] = tool.parameters.get("properties", {})
    wanted = [name for name in tool.parameters.get("required", properties) if name in properties]
    return {wanted[0]: said} if len(wanted) == 1 else {}
