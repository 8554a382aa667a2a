"""A server that answers every connection with the bytes it was given, and keeps what it was sent."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson


@dataclass
class RudeServer:
    """A server that answers in order, the last one again and again, and waits `hold_s` between pieces of one answer.

    After `closes_after` answers it closes the connection.
    """

    answers: Sequence[Sequence[bytes]]
    hold_s: float = 0.0
    closes_after: int = 0
    url: str = ""
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0

    @property
    def bodies(self) -> list[dict[str, object]]:
        return [orjson.loads(request.partition(b"\r\n\r\n")[2]) for request in self.requests]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        served = 0
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next((int(h.split(b":")[1]) for h in head.split(b"\r\n") if h.lower().startswith(b"content-length")), 0)
                self.requests.append(head + await reader.readexactly(length))
                for piece in self.answers[min(len(self.requests), len(self.answers)) - 1]:
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(self.hold_s)
                served += 1
                if served == self.closes_after:
                    break  # without a word, as some servers do
                if b"Connection: close" in b"".join(self.answers[min(len(self.requests), len(self.answers)) - 1]):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


@asynccontextmanager
async def serve_rudely(*answers: Sequence[bytes], hold_s: float = 0.0, closes_after: int = 0) -> AsyncIterator[RudeServer]:
    rude = RudeServer(answers, hold_s, closes_after)
    server = await asyncio.start_server(rude.serve, "127.0.0.1", 0)
    rude.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield rude
    finally:
        server.close()


def make_http_answer(status: int, body: bytes, content_type: str = "application/json", extra: str = "") -> list[bytes]:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
    return [head.encode() + body]


def make_completion(text: str, **more: object) -> list[bytes]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return make_http_answer(200, orjson.dumps({"choices": [choice], **more}))


def make_error_answer(status: int, message: str, extra: str = "", **more: object) -> list[bytes]:
    return make_http_answer(status, orjson.dumps({"error": {"message": message, **more}}), extra=extra)


def make_events(*payloads: object, end: str = "[DONE]") -> list[bytes]:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    lines = [b"data: " + orjson.dumps(p) + b"\r\n\r\n" for p in payloads]
    return [head, *lines, f"data: {end}\n\n".encode() if end else b""]


def make_chunked_stream(*payloads: object) -> list[bytes]:
    """Make a stream on a connection that stays open."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    lines = [b"data: " + orjson.dumps(p) + b"\n\n" for p in payloads] + [b"data: [DONE]\n\n"]
    return [head, *[f"{len(line):x}\r\n".encode() + line + b"\r\n" for line in lines], b"0\r\n\r\n"]


def make_delta(text: str, **more: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": {"content": text}, **more}]}
