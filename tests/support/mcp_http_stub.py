"""An MCP server with sessions over streamable HTTP, as those before the protocol of 2026 are. It may forget them, or be away."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from aiohttp import web

METHOD_NOT_FOUND = -32601


@dataclass
class SessionedServer:
    """`tools` lists names and whether a tool may be repeated, `page` of them on a page. A call answers with its number.

    A tool in `answers` answers with that text, and one in `descriptions` says that of itself; its `annotations` replace the
    usual ones, and a tool in `bare` has none. `given` are the arguments.
    """

    tools: Sequence[tuple[str, bool]] = (("look_up", True), ("order", False))
    page: int = 10
    refusals: int = 0
    sessions: set[str] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)
    given: list[dict[str, Any]] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, dict[str, bool]] = field(default_factory=dict)
    bare: frozenset[str] = frozenset()

    @contextlib.asynccontextmanager
    async def serve_url(self) -> AsyncIterator[str]:
        """Serve on a free port; yield the address of the endpoint."""
        app = web.Application()
        app.router.add_post("/mcp", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=1)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            yield f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        asked = await request.json()
        method, session = asked["method"], request.headers.get("mcp-session-id")
        if self.refusals and method == "tools/call":
            self.refusals -= 1
            return web.Response(status=502, text="bad gateway")
        if session is not None and session not in self.sessions:
            return web.Response(status=404, text="not found")
        if "id" not in asked:
            return web.Response(status=202)
        headers: dict[str, str] = {}
        if method == "initialize":
            self.sessions.add(session := uuid4().hex)
            headers["mcp-session-id"] = session
        said = self._read_request(method, asked.get("params") or {})
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], **said}, headers=headers)

    def _read_request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            about = {"name": "sessioned", "version": "1"}
            return {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}}
        if method == "tools/list":
            return {"result": self._list_page(int(params.get("cursor") or 0))}
        if method == "tools/call":
            self.calls.append(params["name"])
            self.given.append(params.get("arguments") or {})
            text = self.answers.get(params["name"], f"call {len(self.calls)}")
            return {"result": {"content": [{"type": "text", "text": text}]}}
        return {"error": {"code": METHOD_NOT_FOUND, "message": "Method not found"}}

    def _list_page(self, start: int) -> dict[str, Any]:
        end = start + self.page
        listed = [
            {
                "name": name,
                "description": self.descriptions.get(name, f"is {name}"),
                "inputSchema": {"type": "object"},
                **({"annotations": self.annotations.get(name, {"readOnlyHint": harmless})} if name not in self.bare else {}),
            }
            for name, harmless in self.tools[start:end]
        ]
        return {"tools": listed, **({"nextCursor": str(end)} if end < len(self.tools) else {})}
