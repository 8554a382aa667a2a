"""Tools of MCP servers as agents' tools: their results are cut to size, stored, and can be quoted like any other source."""

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import orjson

from app.domain.chat import ToolResult
from app.domain.errors import ToolError
from app.domain.evidence import Passage, Source, snapshot_hash
from retrieval.language.blocks import find_blocks
from retrieval.outside.entrance import Entrance
from retrieval.outside.mcp.ports import ToolOffer, ToolServer
from retrieval.outside.provider import Provider
from retrieval.outside.trial import FetchedAnswer
from retrieval.ports import Document
from workflows.agents.foreign_tools import SCHEME, make_foreign_name
from workflows.agents.untrusted import as_attribute
from workflows.tools.browse import cut_passages

MAX_TEXT_CHARS = 24_000
MAX_DESCRIPTION_CHARS = 500
MAX_SCHEMA_CHARS = 1_500
ATTEMPT_LIMIT = timedelta(seconds=60)
CALL_PATIENCE = timedelta(seconds=90)


class McpTool:
    """One tool of a server, named `mcp_<server>_<tool>`. A tool that may not be repeated is called only once.

    `writes` says that a call may change something; people name the tool by its `full_name`, `<server>.<tool>`.
    """

    def __init__(self, server: ToolServer, offer: ToolOffer, entrance: Entrance, per_second: float) -> None:
        self.name = make_foreign_name(server.name, offer.name)
        self.full_name, self.writes = f"{server.name}.{offer.name}", offer.writes
        self.description = _describe_offer(offer)
        self.parameters = offer.parameters
        self._server, self._tool, self._entrance = server, offer.name, entrance
        self._provider = Provider(
            f"mcp:{server.name}/{offer.name}",
            per_second=per_second,
            burst=3,
            at_once=8,
            attempts=3 if offer.repeatable else 1,
            attempt_limit=ATTEMPT_LIMIT,
            max_age=timedelta(0),
        )

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Use the tool once.

        Raises:
            ToolError: the call failed, or the tool reported an error.
        """

        async def attempt() -> FetchedAnswer:
            said = (await self._server.call(self._tool, arguments))[:MAX_TEXT_CHARS]
            text = said.encode("utf-8", "replace").decode()  # a lone surrogate can be neither hashed nor stored
            return FetchedAnswer(text.encode(), {snapshot_hash(text): text})

        try:
            asked = orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS)
        except orjson.JSONEncodeError as error:
            raise ToolError(f"these arguments cannot be sent: {error}") from error
        answer = await self._entrance.call(self._provider, arguments, attempt, CALL_PATIENCE)
        text = answer.body.decode()
        return ToolResult(passages=self._cut_passages(text, hashlib.sha256(asked).hexdigest()[:12]), note=_make_note(text))

    def _cut_passages(self, text: str, asked: str) -> tuple[Passage, ...]:
        url = f"{SCHEME}{self._server.name}/{self._tool}#{asked}"
        source = Source(url=url, title=f"{self._server.name}: {self._tool}", snapshot=snapshot_hash(text), kind="tool")
        return tuple(cut_passages(Document(source=source, text=text, blocks=tuple(find_blocks(text))), 0, len(text)))


def _describe_offer(offer: ToolOffer) -> str:
    """Return the tool's description for the prompt, with the schema of its input. Both come from outside, so they are data."""
    schema = orjson.dumps({key: offer.parameters[key] for key in ("properties", "required") if key in offer.parameters}).decode()
    said = as_attribute(offer.description, MAX_DESCRIPTION_CHARS)
    return f"{said} Each input is a JSON object: {as_attribute(schema, MAX_SCHEMA_CHARS)}"


def _make_note(text: str) -> str:
    return f"cut after {MAX_TEXT_CHARS} characters" if len(text) >= MAX_TEXT_CHARS else ""
