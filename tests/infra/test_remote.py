"""A wrong setting for a remote part is told at start: what is wrong, and what to do."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from tempfile import TemporaryDirectory
from urllib.parse import urlencode, urlsplit

import pytest
from aiohttp import web

from app.database.schema import SCHEMA_REVISION
from app.domain.errors import SetupError
from infra.local import remote
from infra.local.ports import find_free_port

Check = Callable[[str], Awaitable[None]]


@pytest.fixture
async def web_server() -> AsyncIterator[str]:
    """`host:port` of an HTTP server that is none of the servers we look for and refuses every key."""

    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=401 if request.path.endswith("/models") else 404, text="nothing here")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


@pytest.fixture
async def rude_server() -> AsyncIterator[str]:
    """`host:port` of a server that speaks no protocol we know: it greets and hangs up."""

    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()


def database_at(address: str) -> str:
    return f"postgresql://user:hidden-password@{address}/database"


def web_at(address: str) -> str:
    return f"http://{address}"


async def check_model(url: str) -> None:
    await remote.check_model(url, "hidden-password")


async def refusal(check: Check, address: str) -> str:
    with pytest.raises(SetupError) as refused:
        await check(address)
    assert "hidden-password" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    ("check", "address", "setting"),
    [
        (remote.check_database, database_at, "RUBRICA_DATABASE_URL"),
        (remote.check_temporal, str, "RUBRICA_TEMPORAL_ADDRESS"),
        (remote.check_qdrant, web_at, "RUBRICA_QDRANT_URL"),
        (check_model, web_at, "RUBRICA_LLM_BASE_URL"),
    ],
)
async def test_nothing_listens(check: Check, address: Callable[[str], str], setting: str) -> None:
    where = f"127.0.0.1:{find_free_port()}"
    assert f"{setting}: nothing answers at {where}" in await refusal(check, address(where))


@pytest.mark.parametrize(
    ("check", "address", "said"),
    [
        (remote.check_database, database_at, "does not speak PostgreSQL's protocol"),
        (remote.check_temporal, str, "cannot use the Temporal server at"),
        (remote.check_qdrant, web_at, "is not Qdrant"),
        (check_model, web_at, "refuses it (HTTP 401); correct the key"),
    ],
)
async def test_an_http_server_in_its_place(check: Check, address: Callable[[str], str], said: str, web_server: str) -> None:
    assert said in await refusal(check, address(web_server))


@pytest.mark.parametrize(
    ("check", "address", "said"),
    [
        (remote.check_database, database_at, "does not speak PostgreSQL's protocol"),
        (remote.check_temporal, str, "cannot use the Temporal server at"),
        (remote.check_qdrant, web_at, "does not speak HTTP"),
        (check_model, web_at, "does not speak HTTP"),
    ],
)
async def test_another_protocol(check: Check, address: Callable[[str], str], said: str, rude_server: str) -> None:
    assert said in await refusal(check, address(rude_server))


async def test_a_database_that_is_as_it_should_be(postgres_url: str) -> None:
    await remote.check_database(postgres_url)
    await remote.check_schema(postgres_url)


async def test_a_database_behind_a_folder_of_unix_sockets(postgres_url: str) -> None:
    real = urlsplit(postgres_url)
    with TemporaryDirectory(prefix="rubrica-sockets-") as folder:
        query = urlencode({"host": folder, "port": 6543})
        url = f"postgresql://{real.username}:{real.password}@{real.path}?{query}"
        assert f"nothing answers at {folder}/.s.PGSQL.6543" in await refusal(remote.check_database, url)

        async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            inner, outer = await asyncio.open_connection(real.hostname, real.port)
            await asyncio.gather(copy(reader, outer), copy(inner, writer))

        async with await asyncio.start_unix_server(pass_on, f"{folder}/.s.PGSQL.6543"):
            await remote.check_schema(url)


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while content := await reader.read(65_536):
        writer.write(content)
    writer.close()


async def test_a_database_without_tables(empty_postgres_url: str) -> None:
    await remote.check_database(empty_postgres_url)
    said = await refusal(remote.check_schema, empty_postgres_url)
    assert f"has no tables of Rubrica, this version needs {SCHEMA_REVISION}; run `rubrica migrate`" in said


async def test_a_database_that_refuses(postgres_url: str) -> None:
    where = urlsplit(postgres_url).netloc.rpartition("@")[2]
    assert "refuses this user and password" in await refusal(remote.check_database, database_at(where))
    assert "has no such database" in await refusal(remote.check_database, postgres_url + "_absent")


async def test_a_temporal_server(temporal_address: str) -> None:
    await remote.check_temporal(temporal_address)
