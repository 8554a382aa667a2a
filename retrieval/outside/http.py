"""One HTTP exchange with a provider: bounded, without redirects, and with refusals as `CallFailed`."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import aiohttp
import orjson

from app.outgoing.retry_after import read_retry_after
from app.outgoing.way_out import find_proxy, hide_login, make_tls
from retrieval.outside.failure import CallFailed, Failure

MAX_ANSWER_BYTES = 8 * 2**20
SHOWN_BYTES = 2_000
SHOWN_CHARS = 200
TRANSIENT_STATUSES = frozenset({408, 425})
DENIED_STATUSES = frozenset({401, 402, 403, 407, 432, 433})
CONNECT_LIMIT = timedelta(seconds=5)
KEEP_ALIVE_S = 60.0
KEY_ADVICE = "check its key and its credit"
USER_AGENT = "Rubrica (deep research assistant)"
_TAG = re.compile(r"<[^>]{0,300}>")


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request. With `body` it is a POST of JSON, else a GET. Headers may hold keys and are never printed.

    `advice` says what to do when the service denies it.
    """

    url: str
    params: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret: str = field(default="", repr=False)
    advice: str = KEY_ADVICE


class HttpExchange:
    """Exchanges over one pool of connections."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def send(self, request: HttpRequest) -> bytes:
        """Send a request, and return the body of a 200 response. The caller bounds its time.

        Raises:
            CallFailed: there is no such response.
        """
        try:
            return await self._send(request)
        except CallFailed as error:
            raise CallFailed(error.failure, _hide_secret(request.secret, str(error)), error.retry_after) from error.__cause__
        except aiohttp.InvalidURL as error:
            raise CallFailed(Failure.DENIED, "its address is not a web address") from error
        except TimeoutError as error:
            raise CallFailed(Failure.TIMED_OUT, "no connection in time") from error
        except (aiohttp.ClientError, OSError) as error:
            raise CallFailed(Failure.UNAVAILABLE, f"no answer ({type(error).__name__}){_name_proxy(request.url)}") from error

    async def _send(self, request: HttpRequest) -> bytes:
        data = orjson.dumps(request.body) if request.body is not None else None
        headers = dict(request.headers)
        if data is not None:
            headers["Content-Type"] = "application/json"
        async with self._session.request(
            "GET" if data is None else "POST",
            request.url,
            params=request.params,
            data=data,
            headers=headers,
            allow_redirects=False,
            proxy=find_proxy(request.url),
        ) as response:
            if response.status != 200:
                said = await _read(response, SHOWN_BYTES, cut=True)
                raise failure_of(response.status, response.headers, said, request.advice + _name_proxy(request.url))
            return await _read(response, MAX_ANSWER_BYTES)


async def _read(response: aiohttp.ClientResponse, most: int, cut: bool = False) -> bytes:
    body = bytearray()
    async for data in response.content.iter_any():
        body += data
        if len(body) > most:
            if cut:
                break
            raise CallFailed(Failure.GARBLED, f"its answer is longer than {most} bytes")
    return bytes(body[:most])


def failure_of(status: int, headers: Mapping[str, str], body: bytes, advice: str = KEY_ADVICE) -> CallFailed:
    """Return the failure that a status other than 200 means."""
    said = " ".join(_TAG.sub(" ", body.decode("utf-8", "replace")).split())[:SHOWN_CHARS]
    message = f"status {status}{': ' + said if said else ''}"
    wish = read_retry_after(headers)
    if status == 429:
        return CallFailed(Failure.RATE_LIMITED, message, wish)
    if status == 403 and wish is not None:
        return CallFailed(Failure.RATE_LIMITED, message, wish)
    if status in DENIED_STATUSES:
        return CallFailed(Failure.DENIED, f"{message}; {advice}")
    if status in TRANSIENT_STATUSES or status >= 500:
        return CallFailed(Failure.UNAVAILABLE, message, wish)
    if 300 <= status < 400:
        return CallFailed(Failure.DENIED, f"{message}; it redirects, so set its final address")
    return CallFailed(Failure.REFUSED, message)


def _name_proxy(url: str) -> str:
    """Name the proxy of an address: the refusal may be its own."""
    proxy = find_proxy(url)
    return f", through the proxy {hide_login(proxy)}" if proxy else ""


def _hide_secret(secret: str, text: str) -> str:
    return text.replace(secret, "***") if secret else text


@asynccontextmanager
async def open_exchange() -> AsyncIterator[HttpExchange]:
    """Open an `HttpExchange` with its own session. It honours the usual proxy variables and stores no cookies."""
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_S, ttl_dns_cache=300, ssl=make_tls())
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_LIMIT.total_seconds())
    async with aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=timeout,
        headers={"User-Agent": USER_AGENT, "Accept": "application/json"},
    ) as session:
        yield HttpExchange(session)
