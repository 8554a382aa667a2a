"""Commands that wait for the index of a stack that they started, where it cannot start: they say so and end."""

import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.support.stack import RUBRICA, command_environment, run_rubrica

SAID = "retrieval ended with code 1 while starting"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose index is no database."""
    database = tmp_path / "home" / "retrieval" / "store.db"
    database.parent.mkdir(parents=True)
    database.write_text("not a database")
    return tmp_path / "home"


def test_an_upload_does_not_wait_for_an_index_that_cannot_start(home: Path, tmp_path: Path) -> None:
    (tmp_path / "lease.md").write_text("# Lease\n\nIt ends with the year 2031.\n")
    assert run_rubrica(home, "collections", "create", "Papers").returncode == 0
    done = run_rubrica(home, "collections", "upload", "Papers", "lease.md", folder=tmp_path)
    assert done.returncode == 2
    assert SAID in done.stderr


async def test_an_mcp_client_does_not_wait_for_a_run_that_cannot_go_on(home: Path) -> None:
    environment = command_environment(RUBRICA_HOME=str(home))
    parameters = StdioServerParameters(command=sys.executable, args=[*RUBRICA[1:], "mcp"], env=environment)
    async with Client(parameters) as client:
        run = (await client.call_tool("research_start", {"question": "Why?", "effort": "quick"})).structured_content
        assert run is not None
        waited = await client.call_tool("research_wait", {"run": run["run"]})
        assert waited.is_error
        assert SAID in waited.content[0].text  # type: ignore[union-attr]
