"""A client of the HTTP API that survives the API's death: it reconnects and goes on after the last event it saw."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import aiohttp
import orjson

from app.domain.run import RunStatus

PATIENCE = timedelta(seconds=120)
RETRY = timedelta(milliseconds=100)
FINISHED = frozenset(status.value for status in RunStatus if status.finished)
Unreachable = (aiohttp.ClientError, TimeoutError, ConnectionError)


class NotAccepted(Exception):
    """The API answered, but not with what was asked for."""


@dataclass(frozen=True)
class Event:
    """One event of a run's log."""

    seq: int
    type: str
    agent: str
    payload: dict[str, Any]
    at: datetime

    @property
    def finished(self) -> bool:
        """True for the event after which nothing more happens."""
        return self.type == "status_changed" and self.payload.get("status") in FINISHED


@dataclass
class Client:
    """Speaks to one API. `gaps` counts sequence numbers that a watcher missed: it must stay 0."""

    session: aiohttp.ClientSession
    api: str
    key: str
    gaps: int = field(default=0, init=False)

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    async def ask(self, question: str, **options: Any) -> dict[str, Any]:
        """Create a run; tried again only while nothing listens, so that one question is one run."""
        async with asyncio.timeout(PATIENCE.total_seconds()):
            while True:
                try:
                    return await self._create({"question": question, **options})
                except aiohttp.ClientConnectorError:
                    await asyncio.sleep(RETRY.total_seconds())

    async def _create(self, body: dict[str, Any]) -> dict[str, Any]:
        async with self.session.post(f"{self.api}/v1/runs", json=body, headers=self._headers) as response:
            if response.status != 201:
                raise NotAccepted(f"{response.status}: {await response.text()}")
            run: dict[str, Any] = await response.json()
            return run

    async def get(self, path: str, accept: str = "application/json") -> bytes:
        """A resource below `/v1`; waits out an API that is being restarted."""
        async with asyncio.timeout(PATIENCE.total_seconds()):
            while True:
                try:
                    async with self.session.get(f"{self.api}/v1{path}", headers={**self._headers, "Accept": accept}) as response:
                        if response.status < 500:
                            return await _body(response)
                except Unreachable:
                    pass  # it is being restarted
                await asyncio.sleep(RETRY.total_seconds())

    async def run(self, run_id: str) -> dict[str, Any]:
        """The run as it stands."""
        found: dict[str, Any] = orjson.loads(await self.get(f"/runs/{run_id}"))
        return found

    async def events(self, run_id: str) -> AsyncIterator[Event]:
        """Every event once, in order, across reconnections, until the run is finished."""
        seen = 0
        while True:
            try:
                async for event in self._stream(run_id, seen):
                    self.gaps += event.seq - seen - 1
                    seen = event.seq
                    yield event
                    if event.finished:
                        return
            except Unreachable:
                pass  # it is being restarted
            await asyncio.sleep(RETRY.total_seconds())

    async def _stream(self, run_id: str, after: int) -> AsyncIterator[Event]:
        headers = self._headers | ({"Last-Event-ID": str(after)} if after else {})
        timeout = aiohttp.ClientTimeout(total=None, sock_read=30)
        async with self.session.get(f"{self.api}/v1/runs/{run_id}/events", headers=headers, timeout=timeout) as response:
            if response.status != 200:
                raise aiohttp.ClientError(f"{response.status}")
            async for line in response.content:
                if line.startswith(b"data:"):
                    yield read_event(line[5:])

    async def finished(self, run_id: str) -> dict[str, Any]:
        """Watch a run to its end; the run."""
        async for _ in self.events(run_id):
            pass
        return await self.run(run_id)


def read_event(data: bytes) -> Event:
    """An event from its JSON."""
    found = orjson.loads(data)
    at = datetime.fromisoformat(found["at"])
    return Event(seq=found["seq"], type=found["type"], agent=found.get("agent", ""), payload=found.get("payload", {}), at=at)


async def _body(response: aiohttp.ClientResponse) -> bytes:
    body = await response.read()
    if response.status >= 400:
        raise NotAccepted(f"{response.status}: {body[:500]!r}")
    return body
