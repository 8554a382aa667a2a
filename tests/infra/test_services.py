"""The commands for deployments that supervise processes themselves."""

import asyncio
from pathlib import Path

import asyncpg

from app.database.schema import SCHEMA_REVISION, revision_of
from infra.local.ports import find_free_port
from infra.local.process import Process, Program
from infra.local.service import START_LIMIT, get_http_status
from tests.support.stack import RUBRICA, command_environment, run_rubrica


async def test_migrating_a_given_database(tmp_path: Path, empty_postgres_url: str) -> None:
    for _ in range(2):
        done = await asyncio.to_thread(run_rubrica, tmp_path, "migrate", RUBRICA_DATABASE_OWNER_URL=empty_postgres_url)
        assert done.returncode == 0, done.stderr
        assert f"the schema is at revision {SCHEMA_REVISION}" in done.stdout
    connection = await asyncpg.connect(empty_postgres_url)
    assert await revision_of(connection) == SCHEMA_REVISION
    await connection.close()


def test_migrating_takes_an_address_with_parameters_as_hosts_of_databases_give_it_out(
    tmp_path: Path, empty_postgres_url: str
) -> None:
    url = f"{empty_postgres_url}?sslmode=prefer&application_name=migration"
    done = run_rubrica(tmp_path, "migrate", RUBRICA_DATABASE_OWNER_URL=url)
    assert done.returncode == 0, done.stderr
    assert f"the schema is at revision {SCHEMA_REVISION}" in done.stdout


def test_migrating_names_the_setting_of_a_role_whose_address_leads_nowhere(tmp_path: Path, empty_postgres_url: str) -> None:
    nowhere = f"127.0.0.1:{find_free_port()}"
    for setting, url, said in (
        ("RUBRICA_DATABASE_URL", f"postgresql://u:hidden@{nowhere}/d", f"nothing answers at {nowhere}"),
        ("RUBRICA_WORKER_DATABASE_URL", f"{empty_postgres_url}_absent", "has no such database"),
    ):
        done = run_rubrica(tmp_path, "migrate", RUBRICA_DATABASE_OWNER_URL=empty_postgres_url, **{setting: url})
        assert done.returncode == 2
        assert done.stderr.startswith(f"rubrica: {setting}: ")
        assert said in done.stderr
        assert "hidden" not in done.stderr


def test_migrating_the_local_database(tmp_path: Path) -> None:
    done = run_rubrica(tmp_path / "home", "migrate")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "home" / "postgres" / "data" / "PG_VERSION").exists()
    assert not (tmp_path / "home" / "postgres" / "data" / "postmaster.pid").exists()


async def test_api_and_worker_run_alone(tmp_path: Path, api_urls: tuple[str, str], temporal_address: str) -> None:
    port = find_free_port()
    given = {
        "RUBRICA_DATABASE_URL": api_urls[0],
        "RUBRICA_WORKER_DATABASE_URL": api_urls[1],
        "RUBRICA_TEMPORAL_ADDRESS": temporal_address,
    }
    settings = command_environment(**given, RUBRICA_HOME=str(tmp_path), RUBRICA_RETRIEVAL_URL=f"unix:{tmp_path}/absent.sock")
    api = Process(Program("api", [*RUBRICA, "api", "--port", str(port)], tmp_path / "api.log", settings))
    worker = Process(Program("worker", [*RUBRICA, "worker"], tmp_path / "worker.log", settings))

    async def answers() -> bool:
        return await get_http_status(f"http://127.0.0.1:{port}", "/health") == 200

    async def ready() -> bool:
        return "worker ready" in worker.read_log_tail()

    try:
        await api.wait_until_ready(answers, START_LIMIT)
        await worker.wait_until_ready(ready, START_LIMIT)
    finally:
        for process in (api, worker):
            process.stop()
    assert (api.exit_code, worker.exit_code) == (0, 0)
