"""A connection to one MCP server. It opens at the first use, and again after it broke."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from httpx2 import Auth
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    REQUEST_TIMEOUT,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ResourceLink,
    TextContent,
    TextResourceContents,
    Tool,
)

from app.domain.safe_text import make_safe
from retrieval.outside.failure import CallFailed, Failure
from retrieval.outside.mcp.accounts import AccountFile, StoredAccount, find_sign_in_failure, sign_in_as_client
from retrieval.outside.mcp.answers import tidy_answers
from retrieval.outside.mcp.configuration import SSE, ServerConfiguration
from retrieval.outside.mcp.forms import answer_form
from retrieval.outside.mcp.ports import ToolOffer
from retrieval.outside.mcp.way import CheckedTransport, Vouch, open_http, vouch_for_none

OPEN_LIMIT = timedelta(seconds=20)
HTTP_LIMIT = timedelta(seconds=30)
MOST_PAGES = 50
# The library's words for an HTTP error whose body is not the server's own: a gateway or load balancer speaks.
HTTP_ERROR = "Server returned an error response"


class SessionEnded(CallFailed):
    """The server has forgotten our session, since it was restarted or we were idle: it refused the call unread."""


class McpServer:
    """One server by its configuration. Close it at the end. `accounts` is the folder of the accounts that people connected.

    The library requires one task to open and close a connection, so each connection has its own task.
    """

    def __init__(
        self, name: str, configuration: ServerConfiguration, accounts: Path | None = None, vouch: Vouch = vouch_for_none
    ) -> None:
        self.name = name
        self.configuration = configuration
        self._accounts, self._vouch = accounts, vouch
        self._opening = asyncio.Lock()
        self._client: Client | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._done = asyncio.Event()

    async def list_offers(self) -> list[ToolOffer]:
        """List the server's tools that the configuration allows.

        Raises:
            CallFailed: the server cannot be reached, or does not speak MCP.
        """
        wanted = self.configuration.tools
        async with self._use_client() as client:
            tools = await _list_all_tools(client)
        read_only = self.configuration.read_only
        return [_offer_of(tool, tool.name in read_only) for tool in tools if wanted is None or tool.name in wanted]

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Call a tool, and return the text of its answer.

        Raises:
            CallFailed: the tool does not answer, or with an error of its own (`REFUSED`).
        """
        try:
            result = await self._call_once(tool, arguments)
        except SessionEnded:
            # Also harmless for a tool that may not be repeated.
            result = await self._call_once(tool, arguments)
        text = _text_of(result)
        if result.is_error:
            raise CallFailed(Failure.REFUSED, text or "the tool failed without a reason")
        return text

    async def _call_once(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        async with self._use_client() as client:
            return await client.call_tool(tool, dict(arguments))

    async def close(self) -> None:
        """Close the connection."""
        self._done.set()
        keeper, self._keeper, self._client = self._keeper, None, None
        if keeper is not None:
            await asyncio.wait([keeper], timeout=5)
            keeper.cancel()

    @contextlib.asynccontextmanager
    async def _use_client(self) -> AsyncIterator[Client]:
        """Yield the connection. One that breaks in use is closed, so that the next call opens another."""
        client: Client | None = None
        try:
            client = await self._connect()
            yield client
        except MCPError as error:
            failed = _read_error(error)
            if error.code == CONNECTION_CLOSED and (said := await self._find_end(client)):
                failed = CallFailed(Failure.DENIED, said)
            if failed.failure is not Failure.REFUSED:
                await self._close_broken(client)
            raise failed from error
        except Exception as error:
            await self._close_broken(client)
            if said := find_sign_in_failure(error):
                raise CallFailed(Failure.DENIED, said) from None
            reason = f"the MCP server does not answer ({type(error).__name__}: {error})"
            raise CallFailed(Failure.UNAVAILABLE, reason) from error

    async def _find_end(self, client: Client | None) -> str:
        """Return what a person has to do, where a sign-in that is not taken any more has ended this connection."""
        keeper = self._keeper
        if keeper is None or self._client is not client:
            return ""
        ended, _ = await asyncio.wait([keeper], timeout=1)
        error = keeper.exception() if ended and not keeper.cancelled() else None
        return find_sign_in_failure(error) if error else ""

    async def _close_broken(self, client: Client | None) -> None:
        """Close this connection. A new one that another call has opened meanwhile stays."""
        if self._client is client:
            await self.close()

    async def _connect(self) -> Client:
        async with self._opening:
            if self._client is None:
                self._done = asyncio.Event()
                ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
                self._keeper = asyncio.create_task(self._keep(ready, self._done))
                self._keeper.add_done_callback(lambda keeper: _fail_waiting(keeper, ready))
                async with asyncio.timeout(OPEN_LIMIT.total_seconds()):
                    self._client = await ready
            return self._client

    async def _keep(self, ready: "asyncio.Future[Client]", done: asyncio.Event) -> None:
        """Hold a connection open until `done`."""
        async with contextlib.AsyncExitStack() as stack:
            transport = tidy_answers(await self._open_transport(stack))
            ready.set_result(await stack.enter_async_context(Client(transport, elicitation_callback=answer_form)))
            await done.wait()

    async def _open_transport(self, stack: contextlib.AsyncExitStack) -> Any:
        wanted = self.configuration
        if wanted.url is None:
            command = StdioServerParameters(
                command=str(wanted.command), args=list(wanted.args), env=dict(wanted.env), cwd=wanted.cwd
            )
            return stdio_client(command)
        auth = self._choose_sign_in(wanted.url)
        transport = CheckedTransport([wanted.url, *([wanted.oauth.issuer] if wanted.oauth.issuer else [])], self._vouch)
        http = open_http(transport, HTTP_LIMIT.total_seconds(), dict(wanted.headers), auth)
        if wanted.type == SSE:
            return sse_client(wanted.url, httpx_client_factory=lambda *_, **__: http)  # it opens and closes the client itself
        return streamable_http_client(wanted.url, http_client=await stack.enter_async_context(http))

    def _choose_sign_in(self, url: str) -> Auth | None:
        """Choose how requests are signed. A token of the operator's own in the headers stands as it is."""
        if self.configuration.oauth.without_person:
            return sign_in_as_client(url, self.configuration.oauth)
        if self._accounts is None or "authorization" in map(str.lower, self.configuration.headers):
            return None
        return StoredAccount(url, AccountFile(self._accounts, self.name))


def _fail_waiting(keeper: asyncio.Task[None], ready: "asyncio.Future[Client]") -> None:
    """Fail the calls that wait for a connection. Calls under way on an open connection fail by themselves."""
    error = None if keeper.cancelled() else keeper.exception()
    if not ready.done():
        ready.set_exception(error or ConnectionError("the connection was closed"))


def _read_error(error: MCPError) -> CallFailed:
    """Return what the library's error means. Of a session that has ended, servers speak in words, not in a code of its own."""
    if error.code == INVALID_REQUEST and "session" in error.message.lower():
        return SessionEnded(Failure.UNAVAILABLE, f"the MCP server ended the session ({error.message})")
    if error.code in (CONNECTION_CLOSED, REQUEST_TIMEOUT) or (error.code, error.message) == (INTERNAL_ERROR, HTTP_ERROR):
        return CallFailed(Failure.UNAVAILABLE, f"the MCP server broke off ({error.message})")
    return CallFailed(Failure.REFUSED, error.message)


async def _list_all_tools(client: Client) -> list[Tool]:
    """List the tools page by page. A list without an end is cut."""
    page = await client.list_tools()
    tools = [*page.tools]
    for _ in range(1, MOST_PAGES):
        if page.next_cursor is None:
            break
        page = await client.list_tools(cursor=page.next_cursor)
        tools += page.tools
    return tools


def _offer_of(tool: Tool, known_to_read: bool) -> ToolOffer:
    """Return the description of a tool. One that is also called destructive does not only read, whatever else the server says."""
    hints = tool.annotations
    repeatable = bool(hints and (hints.read_only_hint or hints.idempotent_hint))
    reads = known_to_read or bool(hints and hints.read_only_hint and not hints.destructive_hint)
    about = make_safe(tool.description or tool.title or tool.name)
    return ToolOffer(tool.name, about, tool.input_schema, repeatable, not reads)


def _text_of(result: CallToolResult) -> str:
    """Join the text parts of a result, and name the other parts."""
    return make_safe("\n".join(map(_describe_block, result.content))).strip()


def _describe_block(block: ContentBlock) -> str:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, EmbeddedResource) and isinstance(block.resource, TextResourceContents):
        return block.resource.text
    if isinstance(block, ResourceLink):
        return f"({block.title or block.name}: {block.uri})"
    return f"({block.type} left out)"
