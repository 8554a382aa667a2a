"""An MCP server that asks for OAuth, and its authorisation server, each at a port of its own. Both may be hostile."""

import base64
import contextlib
import hashlib
import itertools
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from tests.support.mcp_http_stub import SessionedServer

SECRET = "s3cret-of-the-client"


@dataclass
class GuardedServer:
    """`said_of_resource` and `said_of_issuer` are changes of the two descriptions; `refuse` is the status that
    refreshes and clients of their own get, with all that they sent.

    `state` is sent back in place of the state that came. `forms` lists what tokens were asked with, `scopes` the rights.
    `open` are the methods that need no token; `wanted` are the rights that a call needs.
    """

    tools: SessionedServer = field(default_factory=lambda: SessionedServer([("look_up", True)]))
    said_of_resource: dict[str, Any] = field(default_factory=dict)
    said_of_issuer: dict[str, Any] = field(default_factory=dict)
    state: str | None = None
    refuse: int = 0
    open: tuple[str, ...] = ()
    wanted: str = ""
    scopes: list[str] = field(default_factory=list)
    valid: set[str] = field(default_factory=set)
    refreshers: set[str] = field(default_factory=set)
    forms: list[dict[str, str]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    url: str = ""
    issuer: str = ""
    _numbers: Any = field(default_factory=itertools.count)
    _challenges: dict[str, str] = field(default_factory=dict)

    @property
    def grants(self) -> list[str]:
        """Return the grants that tokens were asked with."""
        return [form["grant_type"] for form in self.forms]

    @contextlib.asynccontextmanager
    async def serve(self) -> AsyncIterator["GuardedServer"]:
        """Serve both at free ports."""
        resource, issuer = web.Application(), web.Application()
        resource.router.add_post("/mcp", self._guard)
        resource.router.add_get("/.well-known/oauth-protected-resource/mcp", self._describe_resource)
        issuer.router.add_get("/.well-known/oauth-authorization-server", self._describe_issuer)
        issuer.router.add_post("/register", self._register)
        issuer.router.add_get("/authorize", self._authorise)
        issuer.router.add_post("/token", self._give_token)
        async with contextlib.AsyncExitStack() as stack:
            self.url = f"{await _serve(stack, resource)}/mcp"
            self.issuer = await _serve(stack, issuer)
            yield self

    async def _guard(self, request: web.Request) -> web.Response:
        method = (await request.json())["method"]
        if method == "tools/call" and self.wanted not in " ".join(self.scopes):
            said = f'Bearer error="insufficient_scope", scope="{self.wanted}"'
            return web.Response(status=403, headers={"WWW-Authenticate": said})
        if method in self.open or request.headers.get("Authorization", "").removeprefix("Bearer ") in self.valid:
            return await self.tools._answer(request)
        return web.Response(status=401, headers={"WWW-Authenticate": "Bearer"})

    async def _describe_resource(self, _: web.Request) -> web.Response:
        self.asked.append("resource")
        return web.json_response({"resource": self.url, "authorization_servers": [self.issuer], **self.said_of_resource})

    async def _describe_issuer(self, _: web.Request) -> web.Response:
        self.asked.append("issuer")
        places = {f"{name}_endpoint": f"{self.issuer}/{path}" for name, path in PLACES.items()}
        about = {"issuer": self.issuer, "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"]}
        return web.json_response({**about, **places, **self.said_of_issuer})

    async def _register(self, request: web.Request) -> web.Response:
        self.asked.append("register")
        return web.json_response({**await request.json(), "client_id": "made", "client_secret": SECRET}, status=201)

    async def _authorise(self, request: web.Request) -> web.Response:
        self.scopes.append(request.query.get("scope", ""))
        code = f"code{next(self._numbers)}"
        self._challenges[code] = request.query["code_challenge"]
        back = {"code": code, "state": self.state or request.query["state"]}
        return web.Response(status=302, headers={"Location": f"{request.query['redirect_uri']}?{urlencode(back)}"})

    async def _give_token(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        self.forms.append(form)
        if form["grant_type"] == "authorization_code" and not self._proves(form):
            return web.json_response({"error": "invalid_grant"}, status=400)
        if self.refuse and form["grant_type"] != "authorization_code":
            return web.json_response({"error": "invalid_grant", "was": [SECRET, form]}, status=self.refuse)
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] not in self.refreshers:
                return web.json_response({"error": "invalid_grant"}, status=400)
            self.refreshers.discard(form["refresh_token"])
        number = next(self._numbers)
        self.valid.add(f"access{number}")
        given = {"access_token": f"access{number}", "token_type": "Bearer", "expires_in": 3600}
        if form["grant_type"] != "client_credentials":
            self.refreshers.add(given.setdefault("refresh_token", f"refresh{number}"))
        return web.json_response(given)

    def _proves(self, form: dict[str, str]) -> bool:
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=") == self._challenges.pop(form["code"], None)


PLACES = {"authorization": "authorize", "token": "token", "registration": "register"}


async def _serve(stack: contextlib.AsyncExitStack, app: web.Application) -> str:
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return f"http://127.0.0.1:{runner.addresses[0][1]}"
