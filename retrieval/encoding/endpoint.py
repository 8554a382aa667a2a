"""A client of model servers that speak JSON. It owns the retries of all requests of retrieval to such servers."""

import random
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests.exceptions import ChunkedEncodingError, ContentDecodingError

from app.domain.errors import ToolError, ToolUnavailable
from app.outgoing.retry_after import read_retry_after
from app.outgoing.way_out import carry_key, describe_way, find_authorities, find_proxy

CONNECTIONS = 16
FIRST_PAUSE = timedelta(milliseconds=250)
LONGEST_PAUSE = timedelta(seconds=30)
INTERNAL_ERROR = 500
_PASSING = (408, 429, 500, 502, 503, 504)
_WRONG_ADDRESS_OR_KEY = (401, 403, 404, 405)
_AWAY = (requests.ConnectionError, requests.Timeout, ChunkedEncodingError, ContentDecodingError)
"""The errors of a server that is not there, or that dies while it answers."""


@dataclass(frozen=True)
class EndpointPatience:
    """The time limits of one attempt, and of all attempts together."""

    attempt: timedelta
    total: timedelta


SEARCH_PATIENCE = EndpointPatience(timedelta(seconds=10), timedelta(seconds=20))
"""The patience of a search, for which a user waits."""
BUILD_PATIENCE = EndpointPatience(timedelta(minutes=2), timedelta(minutes=15))
"""The patience of a build, which waits while a server restarts."""


class RequestRefused(ToolError):
    """The server refuses what this request holds; others may be answered."""


class JsonEndpoint:
    """One address that takes JSON by POST. Threads may share it. `url` is the address as messages show it.

    Raises:
        ToolUnavailable: the server does not answer in time.
        RequestRefused: the server refuses this request.
        ToolError: the server refuses the key or the address.
    """

    def __init__(self, url: str, api_key: str | None) -> None:
        self.url = describe_way(url)
        self._asked = url
        self._session = requests.Session()
        self._session.verify = find_authorities() or True
        self._session.mount("http://", HTTPAdapter(pool_maxsize=CONNECTIONS))
        self._session.mount("https://", HTTPAdapter(pool_maxsize=CONNECTIONS))
        self._session.headers.update(carry_key(url, api_key))

    def ask(self, body: dict[str, Any], patience: EndpointPatience, most_errors: int | None = None) -> Any:
        """Return the server's answer to `body`. Outages, refusals for load and time-outs are tried again, with back-off.

        After `most_errors` answers with status 500 the request itself counts as refused; None: 500 is an outage like others.
        """
        deadline = time.monotonic() + patience.total.total_seconds()
        pause, errors = FIRST_PAUSE, 0
        while True:
            try:
                return self._attempt(body, min(patience.attempt.total_seconds(), deadline - time.monotonic()))
            except _PassingFailure as failure:
                errors += failure.status == INTERNAL_ERROR
                if most_errors is not None and errors >= most_errors:
                    raise RequestRefused(f"{self.url} refuses ({failure})") from failure
                wished = failure.retry_after
                wait = wished.total_seconds() if wished else pause.total_seconds() * random.uniform(0.5, 1.0)
                if time.monotonic() + wait >= deadline:
                    raise ToolUnavailable(f"{self.url} does not answer: {failure}") from failure
            time.sleep(wait)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _attempt(self, body: dict[str, Any], seconds: float) -> Any:
        try:
            proxy = find_proxy(self._asked)
            proxies = {"http": proxy, "https": proxy} if proxy else {"no_proxy": "*"}
            response = self._session.post(self._asked, json=body, timeout=max(seconds, 0.1), proxies=proxies)
        except _AWAY as error:
            raise _PassingFailure(type(error).__name__) from error
        if response.status_code in _PASSING:
            raise _PassingFailure(f"status {response.status_code}", read_retry_after(response.headers), response.status_code)
        if response.status_code in _WRONG_ADDRESS_OR_KEY:
            raise ToolError(f"{self.url} answers with status {response.status_code}: check the address and the key")
        if not response.ok:
            raise RequestRefused(f"{self.url} refuses ({response.status_code}): {response.text[:200]}")
        try:
            return response.json()
        except ValueError as error:
            raise ToolError(f"{self.url} answers with something other than JSON") from error


class _PassingFailure(Exception):
    """A failed attempt that another attempt may repair."""

    def __init__(self, reason: str, retry_after: timedelta | None = None, status: int | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        self.status = status
