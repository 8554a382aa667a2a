"""A server on a socket that sends the bytes it is given, and then closes; and both clients behind one interface."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol, TypeVar

from rubrica_client import AsyncClient, Client, Patience
from rubrica_client.models import ReportView, RunEvent
from rubrica_client.request import Request
from tests.support.patience import PATIENCE_S

T = TypeVar("T")
LONG = timedelta(seconds=PATIENCE_S)
QUICK = Patience(total=LONG, first_pause=timedelta(milliseconds=10))
RUN = {
    "id": "r1",
    "query": {"question": "Why?"},
    "status": "running",
    "created_at": "2026-11-20T15:00:00Z",
    "updated_at": "2026-11-20T15:00:00Z",
    "last_seq": 0,
}


class EitherClient(Protocol):
    """The methods that tests call on both clients."""

    async def send(self, request: Request[T]) -> T: ...

    async def events(self, run_id: str) -> list[RunEvent]: ...

    async def wait_for_report(self, run_id: str) -> ReportView: ...


class LoopClient:
    """The asynchronous client."""

    def __init__(self, address: str, patience: Patience, timeout: timedelta, key: str = "rbk_test") -> None:
        self._client = AsyncClient(address, key, patience=patience, timeout=timeout, trust_env=False)

    async def send(self, request: Request[T]) -> T:
        return await self._client.send(request)

    async def events(self, run_id: str) -> list[RunEvent]:
        return [event async for event in self._client.events(run_id)]

    async def wait_for_report(self, run_id: str) -> ReportView:
        return await self._client.wait_for_report(run_id)


class ThreadClient:
    """The synchronous client."""

    def __init__(self, address: str, patience: Patience, timeout: timedelta, key: str = "rbk_test") -> None:
        self._client = Client(address, key, patience=patience, timeout=timeout, trust_env=False)

    async def send(self, request: Request[T]) -> T:
        return await asyncio.to_thread(self._client.send, request)

    async def events(self, run_id: str) -> list[RunEvent]:
        return await asyncio.to_thread(lambda: list(self._client.events(run_id)))

    async def wait_for_report(self, run_id: str) -> ReportView:
        return await asyncio.to_thread(self._client.wait_for_report, run_id)


@dataclass
class HostileServer:
    """A server that gives each request the next of `answers`, the last one for ever. `received` holds the requests' heads."""

    address: str = ""
    answers: list[bytes] = field(default_factory=list)
    received: list[str] = field(default_factory=list)
    delay: float = 0.0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.received.append(head)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        await asyncio.sleep(self.delay)
        writer.write(answer)
        await writer.drain()
        writer.close()

    def list_request_lines(self) -> list[str]:
        """Return the first line of each request, without the protocol."""
        return [head.split(" HTTP/")[0] for head in self.received]

    def list_headers(self, name: str) -> list[str]:
        """Return each request's value of this header."""
        found = (line.split(": ", 1) for head in self.received for line in head.split("\r\n")[1:] if ": " in line)
        return [value for key, value in found if key.lower() == name]


@asynccontextmanager
async def serve_hostile(*answers: bytes) -> AsyncIterator[HostileServer]:
    """Serve these answers until the block ends."""
    served = HostileServer(answers=list(answers))
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0)
    served.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield served
    server.close()


def make_answer(status: str, body: Any = None, **headers: str) -> bytes:
    """Make a whole answer; `body` is bytes, or anything that becomes JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = {"Content-Type": "application/json", "Content-Length": str(len(content)), "Connection": "close"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + content


def make_problem(status: int, title: str, detail: str, **headers: str) -> bytes:
    """Make a problem as the API answers it."""
    body = {"type": "urn:rubrica:problem:test", "title": title, "status": status, "detail": detail}
    return make_answer(f"{status} {title}", body, **headers)


def make_run_answer(status: str = "running", last_seq: int = 0) -> bytes:
    """Make an answer with a run."""
    return make_answer("200 OK", RUN | {"status": status, "last_seq": last_seq})


def make_frame(seq: int, kind: str = "model_call", **payload: str) -> bytes:
    """Make one server-sent event."""
    event = {"run_id": "r1", "seq": seq, "type": kind, "payload": payload, "at": "2026-11-20T15:00:00Z"}
    return f"id: {seq}\nevent: {kind}\ndata: {json.dumps(event)}\n\n".encode()


def make_stream(frames: Sequence[bytes], ended: bool = True) -> bytes:
    """Make a stream of events in one chunk; without `ended` it is cut off."""
    body = b"retry: 1000\n\n: still here\n\n" + b"".join(frames)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    return head + f"{len(body):x}\r\n".encode() + body + b"\r\n" + (b"0\r\n\r\n" if ended else b"")
