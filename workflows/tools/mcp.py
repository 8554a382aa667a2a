"""Tools of MCP servers as agents' tools: what they return is cut to size, kept, and quotable like any other source."""

import hashlib
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Protocol

import orjson

from app.domain.chat import ToolResult
from app.domain.errors import ToolError
from app.domain.evidence import Passage, Source, snapshot_hash
from retrieval.outside.entrance import Entrance
from retrieval.outside.provider import Provider
from retrieval.outside.trial import Fetched
from workflows.agents.untrusted import as_attribute
from workflows.tools.browse import PASSAGE_CHARS, cut

PREFIX = "mcp_"
MAX_TEXT_CHARS = 24_000
MAX_DESCRIPTION_CHARS = 500
MAX_SCHEMA_CHARS = 1_500
ATTEMPT_LIMIT = timedelta(seconds=60)
PATIENCE = timedelta(seconds=90)
_OTHER = re.compile(r"[^a-z0-9]+")


class Server(Protocol):
    """The server side of a tool: `retrieval.mcp.server.McpServer`."""

    @property
    def name(self) -> str:
        """The server's name."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """The text the tool answers with; `CallFailed` when it does not."""
        ...


class McpTool:
    """One tool of a server, under the name `mcp_<server>_<tool>`. A tool that may not be repeated is called once only."""

    def __init__(
        self,
        server: Server,
        tool: str,
        description: str,
        parameters: Mapping[str, Any],
        entrance: Entrance,
        per_second: float,
        repeatable: bool,
    ) -> None:
        self.name = PREFIX + _OTHER.sub("_", f"{server.name}_{tool}".lower()).strip("_")
        self.parameters = parameters
        schema = orjson.dumps({key: parameters[key] for key in ("properties", "required") if key in parameters}).decode()
        shown = as_attribute(description, MAX_DESCRIPTION_CHARS)
        self.description = f"{shown} Each input is a JSON object: {as_attribute(schema, MAX_SCHEMA_CHARS)}"
        self._server, self._tool, self._entrance = server, tool, entrance
        self._provider = Provider(
            f"mcp:{server.name}/{tool}",
            per_second=per_second,
            burst=3,
            at_once=8,
            attempts=3 if repeatable else 1,
            attempt_limit=ATTEMPT_LIMIT,
            max_age=timedelta(0),
        )

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Use the tool once.

        Raises:
            ToolError: it failed, or said so itself.
        """

        async def attempt() -> Fetched:
            text = (await self._server.call(self._tool, arguments))[:MAX_TEXT_CHARS]
            return Fetched(text.encode(), {snapshot_hash(text): text})

        try:
            answer = await self._entrance.call(self._provider, arguments, attempt, PATIENCE)
        except UnicodeEncodeError as error:
            raise ToolError(f"{self.name} answered with text that is not Unicode") from error
        text = answer.body.decode()
        return ToolResult(passages=self._passages(text, arguments), note=_note(text))

    def _passages(self, text: str, arguments: Mapping[str, Any]) -> tuple[Passage, ...]:
        asked = hashlib.sha256(orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS)).hexdigest()[:12]
        url = f"mcp://{self._server.name}/{self._tool}#{asked}"
        source = Source(url=url, title=f"{self._server.name}: {self._tool}", snapshot=snapshot_hash(text), kind="tool")
        return tuple(
            Passage(source=source, text=text[start:end], start=start, end=end)
            for start, end in cut(text, 0, len(text), PASSAGE_CHARS)
            if text[start:end].strip()
        )


def _note(text: str) -> str:
    return f"cut after {MAX_TEXT_CHARS} characters" if len(text) >= MAX_TEXT_CHARS else ""
