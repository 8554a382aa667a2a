"""`python -m bench.api_streams`: many event streams held open by one process, with as little work a byte as can be.

It reads one line from standard input, `{"host", "port", "key", "runs": [...], "each": 10}`, opens `each` streams of each run,
prints `open` when all have begun, and, when all have ended, what they saw as one line of JSON.
"""

import asyncio
import re
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import orjson
import uvloop

FRAME = re.compile(rb"id: (\d+)\nevent: (\w+)\ndata: (.*)\n\n")
SENT = re.compile(rb'"message":"sent ([\d.]+)"')
ENDED = re.compile(rb'"status" ?: ?"cancelled"')
OPENED_AT_ONCE = 50


@dataclass
class Seen:
    """What all streams saw together. Delays are in seconds, from before the event was written to its arrival here."""

    events: int = 0
    lost: int = 0
    reordered: int = 0
    unfinished: int = 0
    longest_silence_s: float = 0.0
    delays: list[float] = field(default_factory=list)


class Stream(asyncio.Protocol):
    """One stream: counts what is missing or out of order, and notes how long events were on their way."""

    def __init__(self, request: bytes, seen: Seen) -> None:
        self.begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._request = request
        self._seen = seen
        self._buffer = b""
        self._last = 0
        self._final = False
        self._heard_at = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the events."""
        transport.write(self._request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        """Take what came; frames may come in pieces."""
        now = time.time()
        if self._heard_at:
            self._seen.longest_silence_s = max(self._seen.longest_silence_s, now - self._heard_at)
        self._heard_at = now
        self._buffer += data
        end = self._buffer.rfind(b"\n\n") + 2
        if end > 1:
            for seq, _, body in FRAME.findall(self._buffer[:end]):
                self._take(int(seq), body, now)
            self._buffer = self._buffer[end:]
        if not self.begun.done() and self._last:
            self.begun.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """The server ends a stream after its run's last event."""
        self._seen.unfinished += not self._final
        for waiting in (self.begun, self.ended):
            if not waiting.done():
                waiting.set_result(None)

    def _take(self, seq: int, body: bytes, now: float) -> None:
        self._seen.events += 1
        if seq <= self._last:
            self._seen.reordered += 1
        else:
            self._seen.lost += seq - self._last - 1
            self._last = seq
        if sent := SENT.search(body):
            self._seen.delays.append(now - float(sent.group(1)))
        elif ENDED.search(body):
            self._final = True


async def main() -> None:
    """Watch until every run has ended."""
    told: dict[str, Any] = orjson.loads(sys.stdin.readline())
    loop, seen = asyncio.get_running_loop(), Seen()
    streams: list[Stream] = []
    for run in [run for run in told["runs"] for _ in range(told["each"])]:
        head = f"GET /v1/runs/{run}/events HTTP/1.1\r\nHost: {told['host']}\r\nAuthorization: Bearer {told['key']}\r\n\r\n"
        _, stream = await loop.create_connection(lambda head=head: Stream(head.encode(), seen), told["host"], told["port"])  # type: ignore[misc]
        streams.append(stream)
        if len(streams) % OPENED_AT_ONCE == 0:
            await asyncio.gather(*(stream.begun for stream in streams))
    await asyncio.gather(*(stream.begun for stream in streams))
    print("open", flush=True)
    await asyncio.gather(*(stream.ended for stream in streams))
    print(orjson.dumps({**vars(seen), "delays": sorted(seen.delays)}).decode(), flush=True)


if __name__ == "__main__":
    uvloop.run(main())
