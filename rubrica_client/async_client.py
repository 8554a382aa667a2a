"""The client for programs on an event loop. `Client`, its twin that waits, is generated from this file."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from datetime import timedelta
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx2

from rubrica_client import reports, runs
from rubrica_client.connection import (
    Address,
    AsyncEvents,
    AsyncStream,
    Page,
    check_not_stopped,
    event_of,
    load_certificates,
    stops_at,
)
from rubrica_client.errors import ApiError, network_errors, refusal
from rubrica_client.models import ReportView
from rubrica_client.patience import DEFAULT, Absence, LogPosition, Patience, may_repeat
from rubrica_client.request import Request

A = TypeVar("A")


class AsyncClient:
    """A client of one API, over one pool of connections.

    `address` is where the API listens, `key` an API key; `headers` are sent with every request. `timeout` is the longest silence
    that the client waits through. Harmless requests are sent again while `patience` lasts. With `trust_env`, proxies are taken
    from the environment.
    """

    def __init__(
        self,
        address: str,
        key: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: timedelta = timedelta(seconds=30),
        patience: Patience = DEFAULT,
        trust_env: bool = True,
    ) -> None:
        self.address = Address(address, key, headers or {}, timeout)
        self._patience = patience
        self._http = httpx2.AsyncClient(**self.address.settings(), verify=load_certificates(trust_env), trust_env=trust_env)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def send(self, request: Request[A]) -> A:
        """Return what the API answers.

        Raises:
            ApiError: it refuses, fails, is away for too long, or answers something else.
        """
        absence = Absence(self._patience)
        while True:
            try:
                return request.read(await self._content(request))
            except ApiError as error:
                if not may_repeat(request, error):
                    raise
                await asyncio.sleep(absence.pause(error))

    async def each(self, request: Request[Page[A]]) -> AsyncIterator[A]:
        """Yield every item of a list, page after page."""
        while True:
            page = await self.send(request)
            for item in page.items:
                yield item
            if page.next is None:
                return
            request = request.page(page.next)

    async def stream(self, run_id: str, after: int = 0) -> AsyncStream:
        """Yield the events of a run after number `after` as they happen, over one connection, until the server ends it.

        None comes first: the stream is open.

        Raises:
            ApiError: the stream was refused, or broke.
        """
        with network_errors(self.address.url):
            async with self._http.stream("GET", **self.address.stream(run_id, after)) as response:
                if not response.is_success:
                    await response.aread()
                    raise refusal(response)
                yield None
                with network_errors(self.address.url, streaming=True):
                    async for sent in self.address.events(response):
                        if event := event_of(sent):
                            yield event

    async def events(self, run_id: str, after: int = 0, patience: Patience | None = None) -> AsyncEvents:
        """Yield every event of a run after number `after` once, in order, to the last, over as many connections as it takes.

        Raises:
            ApiError: the run cannot be watched, or the API is away for longer than the patience.
        """
        position = LogPosition(after, patience or self._patience)
        while True:
            try:
                async with aclosing(self.stream(run_id, position.seq)) as stream:
                    async for event in stream:
                        if position.takes(event) and event:
                            yield event
                if position.has_all_of(await self.send(runs.get(run_id))):
                    return
                pause = position.pause()
            except ApiError as error:
                pause = position.pause(error)
            await asyncio.sleep(pause)

    async def wait_for_report(self, run_id: str) -> ReportView:
        """Return the report of a run when it is there.

        Raises:
            RunStopped: the run ended without one, or waits for a person.
            ApiError: as `events`.
        """
        async with aclosing(self.events(run_id)) as events:
            async for event in events:
                if stops_at(event):
                    check_not_stopped(await self.send(runs.get(run_id)))
        check_not_stopped(await self.send(runs.get(run_id)))
        return await self.send(reports.get(run_id))

    async def exchange(self, request: Request[Any]) -> httpx2.Response:
        """Send the request once and return the whole answer, a refusal too: for programs that hand answers on, with cookies.

        Raises:
            Unreachable: no answer came.
        """
        with network_errors(self.address.url):
            return await self._http.request(request.method, request.path, **self.address.options(request))

    async def _content(self, request: Request[Any]) -> bytes:
        response = await self.exchange(request)
        if not response.is_success:
            raise refusal(response)
        return response.content
