"""Fixtures: real PostgreSQL and Temporal for every test that asks, started once a session and stopped at its end."""

import asyncio
import io
import itertools
import os
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import Scheduling

from app.accounts.service.bootstrap import ensure_local_owner
from app.database.migrate import upgrade
from infra.extras import EXTRAS, MODELS
from infra.local.postgres import LocalPostgres
from tests.support.accounts import HOME_KEY, act_as_home, role_urls
from tests.support.s3_server import running_s3
from tests.support.scheduling import FileScheduling
from tests.support.settled_clock import note_clock_of_yesterday
from tests.support.stack import running_postgres, running_temporal, running_time_skipping

_numbers = itertools.count(1)
# Tests start a hundred programs of ours: each uses what an earlier one compiled, even where the machine forbids the cache.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Two runs are the same bit for bit only with as many threads, in this process and in those that it starts.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A home of a test downloads no weights where `make extras` has fetched them.
if MODELS.is_dir():
    os.environ.setdefault("RUBRICA_MODELS_DIR", str(MODELS))
# How long an example takes depends on the machine.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """Share the tests between processes as `tests.support.scheduling` says."""
    return FileScheduling(config, log)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test where an extra that it is marked with is missing."""
    missing = [name for mark in item.iter_markers("extra") for name in mark.args if not EXTRAS[name].is_here()]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not on this machine: `make extras`")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show where each task waits when a test times out: pytest-timeout's own stack ends in the event loop."""
    report = yield
    if call.excinfo is not None and "pytest-timeout" in call.excinfo.exconly():
        try:
            loop = asyncio.get_event_loop_policy().get_event_loop()
        except RuntimeError:  # a test without a loop has no tasks
            return report
        stacks = io.StringIO()
        for task in asyncio.all_tasks(loop):
            task.print_stack(file=stacks)
        report.sections.append(("Where tasks wait", stacks.getvalue()))
    return report


@pytest.fixture(scope="session")
def servers_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which this session's servers keep their state and logs."""
    return tmp_path_factory.mktemp("servers")


@pytest.fixture(scope="session")
def postgres_server(servers_dir: Path) -> Iterator[LocalPostgres]:
    """A running PostgreSQL cluster. `ensure_database(name, template)` adds databases."""
    with running_postgres(servers_dir) as server:
        asyncio.run(act_as_home(server))
        yield server


@pytest.fixture
def empty_postgres_url(postgres_server: LocalPostgres) -> str:
    """A new database without tables, one a test."""
    return asyncio.run(postgres_server.ensure_database(f"empty_{next(_numbers)}"))


@pytest.fixture(scope="session")
def migrated_template(postgres_server: LocalPostgres) -> str:
    """The name of a database that carries the whole schema; others are copied from it."""
    name = "migrated"
    url = asyncio.run(postgres_server.ensure_database(name))
    asyncio.run(upgrade(url))
    asyncio.run(ensure_local_owner(url, HOME_KEY))
    asyncio.run(note_clock_of_yesterday(url))
    return name


@pytest.fixture(scope="session")
def new_postgres_url(postgres_server: LocalPostgres, migrated_template: str) -> Callable[[], str]:
    """A function that makes one more migrated database at each call and returns its address."""
    return lambda: asyncio.run(postgres_server.ensure_database(f"test_{next(_numbers)}", migrated_template))


@pytest.fixture(scope="module")
def postgres_url(new_postgres_url: Callable[[], str]) -> str:
    """A migrated database of this module's own."""
    return new_postgres_url()


@pytest.fixture(scope="module")
def api_urls(postgres_server: LocalPostgres, postgres_url: str) -> tuple[str, str]:
    """The module's database as the API's role and as the trusted one: the first two arguments of `open_services`."""
    return role_urls(postgres_server, postgres_url)


@pytest.fixture(scope="session")
def s3_server(servers_dir: Path) -> Iterator[str]:
    """The address of a store that speaks S3's protocol. A test that asks is marked with the extra SeaweedFS."""
    (servers_dir / "s3").mkdir()
    with running_s3(servers_dir / "s3") as address:
        yield address


@pytest.fixture(scope="session")
def temporal_address(servers_dir: Path) -> Iterator[str]:
    """`host:port` of a real Temporal dev server, state in SQLite."""
    with running_temporal(servers_dir) as server:
        yield server.address


@pytest.fixture(scope="session")
def time_skipping(servers_dir: Path) -> Iterator[str]:
    """`host:port` of Temporal's time-skipping test server."""
    with running_time_skipping(servers_dir) as address:
        yield address
