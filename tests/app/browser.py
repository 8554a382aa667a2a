"""A browser, which keeps cookies and sends no key."""

import contextlib
from collections.abc import AsyncIterator
from http.cookies import Morsel
from typing import Any

import aiohttp
from yarl import URL

from tests.app.served_api import ApiClient, ApiReply

PASSWORD = "correct horse battery staple"


class Browser(ApiClient):
    """A client that speaks to the API as a page of its own would."""

    @property
    def cookie(self) -> "Morsel[str] | None":
        """The session's cookie, if it is signed in."""
        return self.session.cookie_jar.filter_cookies(URL(self.address)).get("rubrica_session")

    def list_cookies(self) -> dict[str, "Morsel[str]"]:
        """Return all cookies."""
        return dict(self.session.cookie_jar.filter_cookies(URL(self.address)))

    async def patch(self, path: str, json: Any) -> ApiReply:
        """Send a PATCH."""
        return await self.send("PATCH", path, json=json)

    async def delete(self, path: str) -> ApiReply:
        """Send a DELETE."""
        return await self.send("DELETE", path)

    async def sign_up(self, email: str, organisation: str = "Analytical Engines") -> dict[str, Any]:
        """Sign up a new organisation; return who one is in it."""
        new = {"organisation": organisation, "email": email, "name": "Ada", "password": PASSWORD}
        reply = await self.post("/v1/sign-up", new)
        assert reply.status == 201, reply.body
        return dict(reply.json)

    async def sign_in(self, email: str, password: str = PASSWORD, **more: Any) -> ApiReply:
        """Sign in with a password."""
        return await self.post("/v1/session", {"email": email, "password": password, **more})

    async def invite(self, email: str, role: str) -> str:
        """Invite somebody; return the invitation's token."""
        reply = await self.post("/v1/invitations", {"email": email, "role": role})
        assert reply.status == 201, reply.body
        return str(reply.json["token"])

    async def accept(self, token: str, password: str = PASSWORD) -> ApiReply:
        """Accept an invitation."""
        return await self.post("/v1/invitations/accept", {"token": token, "name": "Somebody", "password": password})


@contextlib.asynccontextmanager
async def open_browser(address: str, source: str | None = None) -> AsyncIterator[Browser]:
    """Open a browser without cookies; `source` is the loopback address it connects from."""
    connector = aiohttp.TCPConnector(local_addr=(source, 0) if source else None)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        yield Browser(session, address)
