"""The answers of MCP servers as servers write them, put into the form that the library reads.

The library refuses a whole answer for one part in another form: a null where a field is optional, a block of a kind that it does
not know, a description of a tool that is not whole.
"""

import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any, Self

from mcp.client._transport import ReadStream, TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import ContentBlock, JSONRPCResponse, Tool
from pydantic import TypeAdapter, ValidationError

AS_WRITTEN = frozenset({"inputSchema", "structuredContent", "_meta"})
"""Fields whose nulls are values."""
OF_CALLS = frozenset({"content", "structuredContent", "isError"})
_TOOL: TypeAdapter[Any] = TypeAdapter(Tool)
_BLOCK: TypeAdapter[Any] = TypeAdapter(ContentBlock)
log = logging.getLogger(__name__)


@asynccontextmanager
async def tidy_answers(transport: AbstractAsyncContextManager[TransportStreams]) -> AsyncIterator[TransportStreams]:
    """Open a transport whose incoming answers are tidied."""
    async with transport as (read, write):
        yield _TidyStream(read), write


class _TidyStream:
    """A stream of messages that tidies each answer on its way."""

    def __init__(self, inner: ReadStream[SessionMessage | Exception]) -> None:
        self._inner = inner

    async def receive(self) -> SessionMessage | Exception:
        return _tidy_message(await self._inner.receive())

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return _tidy_message(await self._inner.__anext__())

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)

    @property
    def last_context(self) -> Any:
        """The sender's context, where the stream has one: the library asks for it by this name."""
        return getattr(self._inner, "last_context", None)


def _tidy_message(item: SessionMessage | Exception) -> SessionMessage | Exception:
    if isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCResponse):
        item.message.result = tidy_result(item.message.result)
    return item


def tidy_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result without nulls, with the tools and the blocks that can be read, and its structured content as a text."""
    tidy = {name: _drop_nulls(name, value) for name, value in result.items() if value is not None}
    if "tools" in tidy:
        tidy["tools"] = _tidy_tools(tidy["tools"])
    if not OF_CALLS.isdisjoint(result):
        structured = tidy.pop("structuredContent", None)
        blocks = _tidy_blocks(tidy.get("content", []))
        if structured is not None and not any(map(_has_text, blocks)):
            blocks.append(_text_block(json.dumps(structured, ensure_ascii=False)))
        tidy["content"] = blocks
    return tidy


def _drop_nulls(name: str, value: Any) -> Any:
    if name in AS_WRITTEN:
        return value
    if isinstance(value, dict):
        return {key: _drop_nulls(key, each) for key, each in value.items() if each is not None}
    return [_drop_nulls("", each) for each in value if each is not None] if isinstance(value, list) else value


def _tidy_tools(tools: Any) -> list[Any]:
    """Return the tools that can be called. A schema of an answer would only be a reason to refuse the answer."""
    kept = []
    for tool in tools if isinstance(tools, list) else ():
        try:
            whole = {name: value for name, value in tool.items() if name != "outputSchema"}
            whole["inputSchema"] = {"type": "object", **(whole.get("inputSchema") or {})}
            _TOOL.validate_python(whole, by_name=False, extra="ignore")
            kept.append(whole)
        except (ValidationError, AttributeError, TypeError) as error:
            log.warning("a tool of an MCP server is left out, because its description cannot be read: %s", error)
    return kept


def _tidy_blocks(content: Any) -> list[Any]:
    """Return the blocks of an answer. One that cannot be read is named in its place."""
    if isinstance(content, (str, dict)):  # the one block of some servers
        content = [content]
    blocks = []
    for block in content if isinstance(content, Sequence) else ():
        try:
            _BLOCK.validate_python(block, by_name=False, extra="ignore")
            blocks.append(block)
        except ValidationError:
            kind = block.get("type", "part") if isinstance(block, dict) else "part"
            blocks.append(_text_block(block if isinstance(block, str) else f"({kind} left out)"))
    return blocks


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _has_text(block: Mapping[str, Any]) -> bool:
    text = block.get("text") or block.get("resource", {}).get("text") or ""
    return bool(str(text).strip())
