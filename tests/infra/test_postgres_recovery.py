"""PostgreSQL starts after every kind of end, and nothing that was committed is gone."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from app.domain.errors import SetupError
from infra.local.postgres import LocalPostgres


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cluster for this module, in a folder closed to other accounts and with a space in its name."""
    folder = tmp_path_factory.mktemp("a cluster")
    folder.chmod(0o700)
    # What a start that was cut short while making the cluster leaves.
    (folder / "data.new").mkdir()
    (folder / "data.new" / "PG_VERSION").write_text("")
    (folder / "password").touch(0o600)
    (folder / "password.new").touch(0o600)
    return folder


@pytest.fixture
def server(directory: Path) -> Iterator[LocalPostgres]:
    """A server on the cluster, not started."""
    postgres = LocalPostgres(directory, directory / "log")
    yield postgres
    postgres.stop()


async def count(server: LocalPostgres, add: bool = False) -> int:
    """How many rows there are, after adding one if asked."""
    connection = await asyncpg.connect(server.url_of())
    try:
        await connection.execute("CREATE TABLE IF NOT EXISTS kept (n int)")
        if add:
            await connection.execute("INSERT INTO kept VALUES (1)")
        found: int = await connection.fetchval("SELECT count(*) FROM kept")
        return found
    finally:
        await connection.close()


def end(server: LocalPostgres, how: signal.Signals) -> None:
    assert server.process is not None
    os.kill(server.process.pid, how)
    server.process.stop()


async def test_a_first_start_makes_the_cluster_even_after_one_that_was_cut_short(server: LocalPostgres) -> None:
    await server.start()
    assert await count(server, add=True) == 1


async def test_a_killed_server_starts_again_with_its_data(server: LocalPostgres) -> None:
    await server.start()
    end(server, signal.SIGKILL)
    await server.start()
    assert await count(server) == 1


async def test_a_server_left_running_is_ended_first(server: LocalPostgres, directory: Path) -> None:
    left = LocalPostgres(directory, directory / "log")
    await left.start()
    assert left.process is not None
    await server.start()
    assert await left.process.wait_for_end() == 0
    assert await count(server) == 1


async def test_a_lock_whose_number_belongs_to_another_program_is_forgotten(server: LocalPostgres, directory: Path) -> None:
    (directory / "data" / "postmaster.pid").write_text(f"{os.getppid()}\n{directory / 'data'}\n1\n5432\n\n\n  1 1\nready\n")
    await server.start()
    assert await count(server) == 1


async def test_the_password_is_needed_and_private(server: LocalPostgres, directory: Path) -> None:
    await server.start()
    assert (directory / "password").stat().st_mode & 0o077 == 0
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(server.url_of().replace((directory / "password").read_text(), "wrong"))


async def test_a_server_whose_socket_is_gone_does_not_respond_and_makes_it_anew(
    directory: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    sockets = tmp_path_factory.mktemp("s") / "sockets"
    server = LocalPostgres(directory, directory / "log", sockets)
    try:
        await server.start()
        assert await server.responds()
        shutil.rmtree(sockets)
        assert not await server.responds()
        server.stop()
        await server.start()
        assert await server.responds()
        assert await count(server) == 1
    finally:
        server.stop()


async def test_damaged_data_is_told_with_the_servers_own_words(directory: Path, server: LocalPostgres) -> None:
    settings = directory / "data" / "postgresql.conf"
    settings.write_text(settings.read_text() + "\nno_such_setting = 1\n")
    with pytest.raises(SetupError, match="PostgreSQL ended with code 1 while starting") as failure:
        await server.start()
    assert "no_such_setting" in str(failure.value)
