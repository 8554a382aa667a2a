"""`python -m bench.api_streams`: hold many event streams open in one process, with as little work a byte as possible.

It reads one line from standard input, `{"host", "port", "keys": [...], "runs": [...], "each": 10}`, opens `each` streams of each
run, all at once and with the keys in turn, prints `open` when all have begun, and their totals as one line of JSON when all have
ended.
"""

import asyncio
import itertools
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


@dataclass
class StreamTotals:
    """Totals over all streams. Delays are in seconds, from before the event was written to its arrival here."""

    events: int = 0
    lost: int = 0
    reordered: int = 0
    unfinished: int = 0
    longest_silence_s: float = 0.0
    delays: list[float] = field(default_factory=list)


class Stream(asyncio.Protocol):
    """One stream, which keeps what came and when. Losses, order and delays are counted at the end, when nothing waits."""

    def __init__(self, request: bytes) -> None:
        self.begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._request = request
        self._came: list[tuple[float, bytes]] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the events."""
        transport.write(self._request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        """Keep what came."""
        self._came.append((time.time(), data))
        if not self.begun.done() and b"\nevent: " in data:
            self.begun.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note the end: the server closes a stream after its run's last event."""
        for waiting in (self.begun, self.ended):
            if not waiting.done():
                waiting.set_result(None)

    def count(self, seen: StreamTotals) -> None:
        """Add what came to `seen`. Frames may have come in pieces: one counts when its last piece is there."""
        buffer, last, final = b"", 0, False
        for (before, _), (now, _) in itertools.pairwise(self._came):
            seen.longest_silence_s = max(seen.longest_silence_s, now - before)
        for now, data in self._came:
            whole, end, rest = (buffer + data).rpartition(b"\n\n")
            buffer = rest
            for seq, _, body in FRAME.findall(whole + end):
                seen.events += 1
                number = int(seq)
                seen.reordered += number <= last
                seen.lost += max(number - last - 1, 0)
                last = max(number, last)
                if sent := SENT.search(body):
                    seen.delays.append(now - float(sent.group(1)))
                final = final or ENDED.search(body) is not None
        seen.unfinished += not final


async def main() -> None:
    """Watch until every run has ended."""
    order: dict[str, Any] = orjson.loads(sys.stdin.readline())
    loop, seen = asyncio.get_running_loop(), StreamTotals()
    streams: list[Stream] = []
    watched = [run for run in order["runs"] for _ in range(order["each"])]
    for run, key in zip(watched, itertools.cycle(order["keys"])):
        head = f"GET /v1/runs/{run}/events HTTP/1.1\r\nHost: {order['host']}\r\nAuthorization: Bearer {key}\r\n\r\n"
        _, stream = await loop.create_connection(lambda head=head: Stream(head.encode()), order["host"], order["port"])  # type: ignore[misc]
        streams.append(stream)
    await asyncio.gather(*(stream.begun for stream in streams))
    print("open", flush=True)
    await asyncio.gather(*(stream.ended for stream in streams))
    for stream in streams:
        stream.count(seen)
    print(orjson.dumps({**vars(seen), "delays": sorted(seen.delays)}).decode(), flush=True)


if __name__ == "__main__":
    uvloop.run(main())
