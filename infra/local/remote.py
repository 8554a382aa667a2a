"""Check the remote servers that the settings name, once, before anything starts."""

import asyncio
import json
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from app.domain.errors import SetupError
from app.outgoing.way_out import address_of, find_proxy, hide_login, make_tls

if TYPE_CHECKING:
    import asyncpg


LIMIT = timedelta(seconds=5)
DATABASE = "RUBRICA_DATABASE_URL"


class WrongLogin(SetupError):
    """An error for a PostgreSQL server that refuses a user and password."""


async def check_database(url: str, setting: str = DATABASE) -> None:
    """Check that a PostgreSQL server lets us in.

    Raises:
        SetupError: the message names the setting, the cause and what to do, never the password.
    """
    await (await connect_to_database(url, setting)).close()


async def check_schema(url: str, setting: str = DATABASE) -> None:
    """Check that a database has the tables of this version. A start never migrates a remote database.

    Raises:
        SetupError: the message names the command that migrates it.
    """
    from app.database.schema import require_schema

    connection = await connect_to_database(url, setting)
    try:
        await require_schema(connection, setting)
    finally:
        await connection.close()


async def connect_to_database(url: str, name: str) -> "asyncpg.Connection[asyncpg.Record]":
    """Return a connection to a PostgreSQL server; `name` is the setting that holds its address.

    Raises:
        WrongLogin: the server refuses user and password.
        SetupError: the message names the setting, the cause and what to do, never the password.
    """
    import asyncpg

    setting = f"{name}: the server at {_host_of(url, 5432)}"
    await _require_reachable(name, url, 5432)
    try:
        return await asyncpg.connect(url, timeout=LIMIT.total_seconds())
    except asyncpg.InvalidCatalogNameError as error:
        raise SetupError(f"{setting} has no such database; create it or correct the name") from error
    except asyncpg.InvalidAuthorizationSpecificationError as error:
        raise WrongLogin(f"{setting} refuses this user and password; correct them") from error
    except asyncpg.PostgresError as error:
        raise SetupError(f"{setting} refuses the connection: {error}") from error
    except (OSError, TimeoutError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
        raise SetupError(f"{setting} does not speak PostgreSQL's protocol; check host and port") from error


async def check_temporal(address: str) -> None:
    """Check that an address is a Temporal server's.

    Raises:
        SetupError: nothing listens there, or it is not Temporal.
    """
    from app.runs.service.temporal_gateway import connect

    await _require_reachable("RUBRICA_TEMPORAL_ADDRESS", f"temporal://{address}", 7233)
    await connect(address)


async def check_qdrant(url: str) -> None:
    """Check that an address is a Qdrant server's.

    Raises:
        SetupError: nothing listens there, or it is not Qdrant.
    """
    status, body = await _get("RUBRICA_QDRANT_URL", url, "")
    try:
        title = json.loads(body).get("title", "") if status == 200 else ""
    except (ValueError, AttributeError):
        title = ""
    if "qdrant" not in str(title).lower():
        raise SetupError(f"RUBRICA_QDRANT_URL: the server at {_host_of(url, 6333)} is not Qdrant; check host and port")


async def check_model(url: str, key: str | None) -> None:
    """Check that an HTTP server takes our key. Only the first call shows whether it knows the model.

    Raises:
        SetupError: nothing listens there, it does not speak HTTP, or it refuses the key.
    """
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    status, _ = await _get("RUBRICA_LLM_BASE_URL", url, "models", headers)
    if status in (401, 403):
        raise SetupError(f"RUBRICA_LLM_API_KEY: the server at {_host_of(url, 443)} refuses it (HTTP {status}); correct the key")


async def _get(setting: str, url: str, path: str, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    import aiohttp

    where, proxy = _host_of(url, 443 if url.startswith("https") else 80), find_proxy(url)
    where += f" through the proxy {hide_login(proxy)}" if proxy else ""
    limit = aiohttp.ClientTimeout(total=LIMIT.total_seconds())
    try:
        asked = address_of(url, path)
        client = aiohttp.ClientSession(timeout=limit, connector=aiohttp.TCPConnector(ssl=make_tls()))
        async with client as session, session.get(asked, headers=headers, proxy=find_proxy(asked)) as answer:
            return answer.status, await answer.read()
    except aiohttp.ClientConnectorError as error:
        raise SetupError(f"{setting}: nothing answers at {where} ({error.strerror}); is the server running?") from error
    except TimeoutError as error:
        raise SetupError(f"{setting}: {where} does not answer within {LIMIT.seconds} s; check host, port and firewall") from error
    except aiohttp.ClientError as error:
        raise SetupError(f"{setting}: the server at {where} does not speak HTTP; check the address") from error


async def _require_reachable(setting: str, url: str, default_port: int) -> None:
    (host, port), where = _place_of(url, default_port), _host_of(url, default_port)
    try:
        async with asyncio.timeout(LIMIT.total_seconds()):
            opening = asyncio.open_unix_connection(where) if host.startswith("/") else asyncio.open_connection(host, port)
            _, writer = await opening
    except TimeoutError as error:
        raise SetupError(f"{setting}: {where} does not answer within {LIMIT.seconds} s; check host, port and firewall") from error
    except OSError as error:
        raise SetupError(f"{setting}: nothing answers at {where} ({error.strerror or error}); is the server running?") from error
    writer.close()


def _host_of(url: str, default_port: int) -> str:
    """Return `host:port` of an address, or the path of PostgreSQL's Unix socket, without user and password."""
    host, port = _place_of(url, default_port)
    return f"{host}/.s.PGSQL.{port}" if host.startswith("/") else f"{host}:{port}"


def _place_of(url: str, default_port: int) -> tuple[str, int]:
    """Return host and port of an address. A folder of Unix sockets can only stand in the query, with the port beside it."""
    parts = urlsplit(url)
    if parts.hostname:
        return parts.hostname, parts.port or default_port
    asked = parse_qs(parts.query)
    return asked.get("host", [""])[0], int(asked.get("port", [default_port])[0])
