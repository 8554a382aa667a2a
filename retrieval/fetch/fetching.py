"""A single fetch of one address, without retries, cache, cookies and credentials. Every redirect is a new address."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from types import TracebackType
from typing import Self

import aiohttp
from yarl import URL

from app.outgoing.addresses import IPNetwork
from app.outgoing.errors import AddressRefused, PageUnavailable
from app.outgoing.guard import LookUp, check_named, guarded_connector, proxied_connector, system_lookup
from app.outgoing.retry_after import read_retry_after
from app.outgoing.targets import PORTS, check_target
from app.outgoing.way_out import hide_login
from retrieval.fetch.errors import PageRefused
from retrieval.fetch.limits import FETCH_LIMITS, FetchLimits
from retrieval.fetch.unpacking import ACCEPTED, build_unpacker

MOVED_STATUSES = (301, 302, 303, 307, 308)
BUSY_STATUSES = (408, 425, 429, 500, 502, 503, 504)
LONGEST_WISH = timedelta(hours=1)
PIECE = 1 << 16
ACCEPT = "text/html,application/xhtml+xml,application/pdf,text/plain;q=0.9,*/*;q=0.1"


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """The unpacked answer of a server from the final address. `content_type` is in lower case, without parameters."""

    url: str
    content_type: str
    charset: str
    body: bytes


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """The identity of the client, and the allowed targets of its requests.

    `permitted` networks are allowed although they are not public: an intranet, or a test's own listeners. `tls` replaces the
    system's certificate authorities. `proxy` is one that the operator names, never the environment's: it makes all connections.
    """

    user_agent: str = "RubricaBot/0.1"
    limits: FetchLimits = FETCH_LIMITS
    ports: frozenset[int] = PORTS
    permitted: Sequence[IPNetwork] = ()
    lookup: LookUp = system_lookup
    tls: ssl.SSLContext | None = None
    proxy: str | None = field(default=None, repr=False)


class Fetcher:
    """A fetcher of addresses. It belongs to the event loop of its first call. Close it, or use it in `async with`."""

    def __init__(self, policy: FetchPolicy | None = None) -> None:
        self.policy = policy or FetchPolicy()
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def check_target(self, url: str) -> URL:
        """Return the checked address to ask for. Raises `AddressRefused`."""
        return check_target(url, self.policy.permitted, self.policy.ports)

    async def fetch_once(self, url: URL, types: frozenset[str] = frozenset()) -> "FetchedPage | URL":
        """Request an address that `target` has checked, and return the answer, or the checked address of its redirect.

        `types` are the accepted content types; empty: any.

        Raises:
            AddressRefused: the host's address, or that of the redirect, is not public.
            PageRefused: the answer is too large, damaged or not a redirect that can be followed.
            PageUnavailable: there is no answer, or one that says to come back later.
        """
        try:
            async with asyncio.timeout(self.policy.limits.total.total_seconds()), self._request(url) as response:
                if response.status in MOVED_STATUSES:
                    return self._redirect_of(url, response)
                _check_status(response, self._name_proxy())
                kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
                if types and kind and kind not in types:
                    raise PageRefused("the page is of a kind that is not read; web pages, PDF and plain text are")
                return FetchedPage(str(url), kind, _charset_of(response), await self._read_body(response))
        except TimeoutError as error:
            raise PageUnavailable("the server took too long") from error
        except (aiohttp.ClientError, OSError) as error:
            raise PageUnavailable(f"the server could not be reached ({type(error).__name__}){self._name_proxy()}") from error

    @asynccontextmanager
    async def _request(self, url: URL) -> AsyncIterator[aiohttp.ClientResponse]:
        if self.policy.proxy:
            await check_named(url, self.policy.lookup, self.policy.permitted)
        async with self._open_session().get(url, proxy=self.policy.proxy, allow_redirects=False) as response:
            yield response

    def _name_proxy(self) -> str:
        """Name the proxy, since the refusal may be its own."""
        return f", through the proxy {hide_login(self.policy.proxy)}" if self.policy.proxy else ""

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            limits = self.policy.limits
            self._session = aiohttp.ClientSession(
                connector=self._open_connector(),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
                auto_decompress=False,
                headers={"User-Agent": self.policy.user_agent, "Accept": ACCEPT, "Accept-Encoding": ACCEPTED},
                timeout=aiohttp.ClientTimeout(
                    total=None, connect=limits.connect.total_seconds(), sock_read=limits.idle.total_seconds()
                ),
                max_line_size=8_190,
                max_field_size=8_190,
            )
        return self._session

    def _open_connector(self) -> aiohttp.TCPConnector:
        if self.policy.proxy:
            return proxied_connector(self.policy.tls)
        return guarded_connector(self.policy.lookup, self.policy.permitted, self.policy.tls)

    def _redirect_of(self, url: URL, response: aiohttp.ClientResponse) -> URL:
        location = response.headers.get("Location", "").strip()
        if not location:
            raise PageRefused("the server redirects without an address")
        try:
            joined = str(url.join(URL(location)))
        except (ValueError, TypeError) as error:
            raise AddressRefused("refused: the server redirects to something that is not a web address") from error
        onward = self.check_target(joined)
        if url.scheme == "https" and onward.scheme == "http":
            raise AddressRefused("refused: the server redirects from https to http")
        return onward

    async def _read_body(self, response: aiohttp.ClientResponse) -> bytes:
        limits = self.policy.limits
        if (response.content_length or 0) > limits.sent:
            raise PageRefused(f"the page is larger than {limits.sent >> 20} MiB")
        unpacking = build_unpacker(response.headers.get("Content-Encoding", ""))
        pieces: list[bytes] = []
        sent = unpacked = 0
        async for chunk in response.content.iter_chunked(PIECE):
            sent += len(chunk)
            for piece in unpacking.feed(chunk):
                unpacked += len(piece)
                if sent > limits.sent or unpacked > limits.unpacked:
                    raise PageRefused("the page is too large")
                pieces.append(piece)
        unpacking.finish()
        return b"".join(pieces)


def _check_status(response: aiohttp.ClientResponse, way: str) -> None:
    status = response.status
    if status in BUSY_STATUSES:
        wish = read_retry_after(response.headers)
        raise PageUnavailable(f"the server answered with status {status}{way}", min(wish, LONGEST_WISH) if wish else wish)
    if not 200 <= status < 300 or status in (204, 205, 206):
        raise PageRefused(f"the server answered with status {status}{way}")


def _charset_of(response: aiohttp.ClientResponse) -> str:
    try:
        return (response.charset or "").lower()
    except (RuntimeError, ValueError, LookupError):
        return ""
