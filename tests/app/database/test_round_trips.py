"""What a request asks of the database: counted between the two, since that is what a busy server spends its time on."""

import asyncio
import contextlib
import importlib
import pkgutil
import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import orjson
import pytest

import app
from app.database.tenancy import _as_tenant, _is_read
from app.http.services import open_services
from app.runs.storage import runs
from tests.app.database.conftest import OrganisationWithRun
from tests.app.served_api import InMemoryRuns, serve_api

# Whose key it is, and what is asked for.
MOST = {
    **{"/v1/runs/{}": 2, "/v1/runs?limit=20": 2, "/v1/runs/{}/plan": 2},
    **{"/v1/runs/{}/report": 3, "/v1/runs/{}/evidence": 2, "/v1/runs/{}/contradictions": 2, "/health": 1},
}
TRIES = 50


class Counting:
    """Stands between a client and PostgreSQL, and counts what a client waits for: simple queries, and ends of extended ones."""

    def __init__(self, url: str) -> None:
        self._url = urlsplit(url)
        self.count = 0

    @contextlib.asynccontextmanager
    async def url(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._between, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        netloc = f"{self._url.netloc.rpartition('@')[0]}@127.0.0.1:{port}"
        yield self._url._replace(netloc=netloc, query="sslmode=disable").geturl()
        server.close()

    async def _between(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, asks = await asyncio.open_connection(self._url.hostname, self._url.port)
        back = asyncio.create_task(self._pass_on(answers, writer))
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            size = await reader.readexactly(4)  # the first message has no type
            asks.write(size + await reader.readexactly(int.from_bytes(size) - 4))
            while True:
                head = await reader.readexactly(5)
                asks.write(head + await reader.readexactly(int.from_bytes(head[1:]) - 4))
                self.count += head[:1] in b"QS"
        asks.close()
        await back

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65_536):
                writer.write(data)
        writer.close()


async def test_a_read_costs_as_many_round_trips_as_it_has_questions(
    api_urls: tuple[str, str], workflows: InMemoryRuns, houses: tuple[OrganisationWithRun, OrganisationWithRun]
) -> None:
    between = [Counting(url) for url in api_urls]
    found = {}
    async with (
        between[0].url() as tenants,
        between[1].url() as trusted,
        open_services(tenants, trusted, workflows) as services,
        serve_api(services, houses[0].key) as client,
    ):
        for path, most in MOST.items():
            # The first prepares its statements, and what goes on beside requests asks now and then: the more often, the slower
            # the machine.
            for _ in range(TRIES):
                before = sum(each.count for each in between)
                assert (await client.get(path.format(houses[0].run))).status == 200
                found[path] = sum(each.count for each in between) - before
                if found[path] <= most:
                    break
    assert found == MOST


def _reads() -> dict[str, str]:
    found = pkgutil.walk_packages(app.__path__, "app.")
    modules = [importlib.import_module(module.name) for module in found if module.name.split(".")[2:3] == ["storage"]]
    named = {f"{module.__name__}.{name}": value for module in modules for name, value in vars(module).items() if name.isupper()}
    return {name: value for name, value in named.items() if isinstance(value, str) and _is_read(value)}


# What only the trusted role may read, and parts of statements.
NOT_ASKED = (asyncpg.InsufficientPrivilegeError, asyncpg.PostgresSyntaxError, asyncpg.IndeterminateDatatypeError)


@pytest.mark.parametrize("nested_loops", ["on", "off"])
async def test_the_organisation_is_named_before_any_row_is_looked_at(as_api: asyncpg.Connection, nested_loops: str) -> None:
    await as_api.execute(f"SET enable_nestloop = {nested_loops}; SET plan_cache_mode = force_generic_plan")
    planned = 0
    for number, (name, query) in enumerate(_reads().items()):
        arguments = max(map(int, re.findall(r"\$(\d+)", query)), default=0)
        given = ", ".join(["NULL"] * (arguments + 3))
        with contextlib.suppress(*NOT_ASKED):
            await as_api.execute(f"PREPARE asked_{number} AS {_as_tenant(query, arguments)}")
            told = await as_api.fetchval(f"EXPLAIN (FORMAT JSON, VERBOSE) EXECUTE asked_{number} ({given})")
            top = orjson.loads(told)[0]["Plan"]
            first, second = (str(part.get("Output")) for part in top["Plans"][-2:])
            assert top["Node Type"] == "Nested Loop", name
            assert "set_config('rubrica.organisation'" in first, name
            assert "set_config" in query or "set_config" not in second, name
            planned += 1
    assert planned > 80


async def test_a_context_that_acts_for_nobody_sees_nothing_and_leaves_nothing(
    as_api: asyncpg.Connection, houses: tuple[OrganisationWithRun, OrganisationWithRun]
) -> None:
    query = "SELECT id FROM runs"
    seen = await as_api.fetch(_as_tenant(query, 0), str(houses[0].organisation), "", "")
    assert [row["id"] for row in seen] == [houses[0].run]
    assert await as_api.fetch(query) == await as_api.fetch(_as_tenant(query, 0), "", "", "") == []


async def test_one_run_is_read_without_a_look_at_the_others_of_its_organisation(
    pool: asyncpg.Pool, as_api: asyncpg.Connection, houses: tuple[OrganisationWithRun, OrganisationWithRun]
) -> None:
    mine = houses[0]
    copy = "SELECT gen_random_uuid(), query, organisation_id FROM runs, generate_series(1, 500) WHERE id = $1"
    await pool.execute(f"INSERT INTO runs (id, query, organisation_id) {copy}", mine.run)
    await pool.execute("INSERT INTO ledgers (run_id) SELECT id FROM runs ON CONFLICT DO NOTHING")
    await pool.execute("ANALYZE runs, ledgers")
    asked = f"EXPLAIN (ANALYZE, FORMAT JSON) {_as_tenant(runs.GET, 1)}"
    told = await as_api.fetchval(asked, mine.run, str(mine.organisation), "", "")
    assert 1 <= _rows_looked_at(orjson.loads(told)[0]["Plan"]) < 20


def _rows_looked_at(step: dict[str, Any]) -> float:
    own = (step["Actual Rows"] + step.get("Rows Removed by Filter", 0)) * step["Actual Loops"]
    return float(own) + sum(_rows_looked_at(part) for part in step.get("Plans", ()))
