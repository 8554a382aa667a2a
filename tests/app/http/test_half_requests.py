"""Requests that never become whole end by themselves, and hold nobody up."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from app.http.half_requests import sender_of
from app.http.patient_protocol import Patience
from app.http.services import Services
from tests.app.served_api import ApiClient, serve_api
from tests.support.accounts import HOME_KEY

SOON = timedelta(seconds=0.3)
FOR_EVER = timedelta(hours=1)
PATIENT = Patience(connections=1_000, head=FOR_EVER, body=FOR_EVER)
HEAD = f"Host: localhost\r\nAuthorization: Bearer {HOME_KEY}\r\n"
HALF_A_BODY = f"POST /v1/runs HTTP/1.1\r\n{HEAD}Content-Type: application/json\r\nContent-Length: 27\r\n%s\r\n{{"
OTHER_HALF = b'"question": "Who was it?"}'
HALF_A_HEAD = "GET /health HTTP/1.1\r\nHost: localhost\r\n"


class RawClient:
    """A client that sends what it likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, text: str) -> None:
        self.writer.write(text.encode())

    async def read_status(self) -> int:
        """The status of the next answer."""
        return int((await self.reader.readline()).split()[1])

    async def read_end(self) -> bytes:
        """All that comes until the server closes the connection."""
        return await self.reader.read()

    async def ask_health(self) -> bytes:
        """Ask for the health; return the answer, and keep the connection."""
        self.send(HALF_A_HEAD + "\r\n")
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split()[0])
        return head + await self.reader.readexactly(length)


@asynccontextmanager
async def connect(api: ApiClient, text: str = "") -> AsyncIterator[RawClient]:
    host, port = api.address.removeprefix("http://").split(":")
    client = RawClient(*await asyncio.open_connection(host, int(port)))
    client.send(text)
    try:
        yield client
    finally:
        client.writer.close()


@pytest.mark.parametrize("earlier", [0, 1])
@pytest.mark.parametrize("text", [HALF_A_HEAD, HALF_A_BODY % ""], ids=["head", "body"])
async def test_a_request_that_never_becomes_whole_is_answered_and_ended(services: Services, text: str, earlier: int) -> None:
    async with serve_api(services, patience=Patience(1_000, head=SOON, body=SOON)) as api, connect(api) as client:
        for _ in range(earlier):
            await client.ask_health()
        client.send(text)
        said = await client.read_end()
    assert b"HTTP/1.1 408 " in said
    assert b"urn:rubrica:problem:request-timeout" in said


async def test_a_connection_without_a_request_is_ended_without_a_word(services: Services) -> None:
    async with serve_api(services, patience=Patience(1_000, head=SOON, body=SOON)) as api:
        async with connect(api) as client:
            assert await client.read_end() == b""
        async with connect(api) as client:
            await client.ask_health()
            # An empty line stops uvicorn's clock, and begins no request.
            client.send("\r\n")
            assert await client.read_end() == b""


async def test_a_body_that_comes_at_a_pace_may_take_long(services: Services) -> None:
    """Each look finds that something came: nothing is cut, however short the time between two looks."""
    patience = Patience(1_000, head=FOR_EVER, body=timedelta(milliseconds=50), body_bytes=0)
    async with serve_api(services, patience=patience) as api, connect(api, HALF_A_BODY % "") as client:
        await asyncio.sleep(0.3)  # several looks; on a slower machine fewer, which changes nothing
        client.writer.write(OTHER_HALF)
        assert await client.read_status() == 201


async def test_a_head_has_a_length(services: Services) -> None:
    async with serve_api(services, patience=PATIENT) as api, connect(api, HALF_A_HEAD + "X-Long: ") as client:
        client.send("x" * 100_000)
        assert b"HTTP/1.1 431 " in await client.read_end()


async def test_a_sender_behind_a_proxy_has_so_many_and_the_oldest_gives_way(services: Services) -> None:
    def half(sender: str) -> str:
        return HALF_A_BODY % f"X-Forwarded-For: {sender}\r\n"

    patience = Patience(1_000, head=FOR_EVER, body=FOR_EVER, of_sender=2)
    async with (
        serve_api(services, proxies=["127.0.0.1"], patience=patience) as api,
        connect(api, half("203.0.113.9")) as stranger,
        connect(api, half("203.0.113.5")) as first,
        connect(api, half("203.0.113.5")) as second,
        connect(api, half("203.0.113.5")) as third,
    ):
        said = await first.read_end()
        assert b"HTTP/1.1 429 " in said
        assert b"\r\nretry-after: " in said
        assert b"unfinished requests" in said
        for client in (stranger, second, third):
            client.writer.write(OTHER_HALF)
            assert await client.read_status() == 201
        # Whole requests do not count.
        forwarded = {"X-Forwarded-For": "203.0.113.5"}
        assert {(await api.get("/v1/me", headers=forwarded)).status for _ in range(5)} == {200}


async def test_this_machine_is_not_one_sender(services: Services) -> None:
    patience = Patience(1_000, head=FOR_EVER, body=FOR_EVER, of_sender=2)
    async with serve_api(services, patience=patience) as api, connect(api, HALF_A_BODY % "") as oldest:
        for _ in range(3):
            async with connect(api, HALF_A_BODY % ""):
                assert (await api.get("/v1/me")).status == 200
        oldest.writer.write(OTHER_HALF)
        assert await oldest.read_status() == 201


async def test_where_all_connections_are_taken_those_that_wait_make_room(services: Services) -> None:
    patience = Patience(connections=3, head=FOR_EVER, body=FOR_EVER)
    async with serve_api(services, patience=patience) as api:
        run = await api.ask()
        await api.session.connector.close()  # type: ignore[union-attr]
        stream = f"GET /v1/runs/{run}/events HTTP/1.1\r\n{HEAD}\r\n"
        async with connect(api) as idle, connect(api, HALF_A_HEAD) as half, connect(api, stream) as first:
            await idle.ask_health()
            await first.reader.readuntil(b"run_created")
            async with connect(api, stream) as second, connect(api, stream) as third:
                assert await idle.read_end() == b""
                assert b"HTTP/1.1 503 " in await half.read_end()
                for watcher in (second, third):
                    await watcher.reader.readuntil(b"run_created")
                async with connect(api) as refused:
                    said = await refused.read_end()
                assert b"HTTP/1.1 503 " in said
                assert b"as many connections as it may" in said
            # Two have gone: there is room again.
            while True:
                async with connect(api) as again:
                    again.send(HALF_A_HEAD + "\r\n")
                    if await again.reader.readline() == b"HTTP/1.1 200 OK\r\n":
                        break
            assert not first.reader.at_eof()


async def test_an_offer_to_speak_another_protocol_changes_nothing(services: Services) -> None:
    asked = HALF_A_HEAD + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    async with serve_api(services) as api, connect(api, asked + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n") as client:
        assert await client.read_status() in (200, 503)


@pytest.mark.parametrize(
    ("host", "sender"),
    [
        ("203.0.113.5", "203.0.113.5"),
        ("::ffff:203.0.113.5", "203.0.113.5"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("127.0.0.1", None),
        ("::1", None),
        ("not an address", "not an address"),
    ],
)
def test_one_sender_is_an_address_or_a_network_of_64_bits(host: str, sender: str | None) -> None:
    assert sender_of(host) == sender
