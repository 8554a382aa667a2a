"""docs/api.md: its commands and its program are run as they stand, against a real API."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from app.api.services import open_services
from tests.app.support import ApiClient, serving
from tests.support.accounts import HOME_KEY
from tests.support.fuzzed_api import BriefRuns

PAGE = (Path(__file__).parents[3] / "docs" / "api.md").read_text()
# A command that fails, or is answered with an error, ends the block.
STRICT = 'set -euo pipefail; curl() { command curl --fail-with-body --max-time 30 "$@"; }\n'
SHELL = pytest.mark.skipif(not all(map(shutil.which, ("bash", "curl", "jq"))), reason="needs bash, curl and jq")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
async def brief(api_urls: tuple[str, str], pool: asyncpg.Pool) -> AsyncIterator[ApiClient]:
    """An API whose runs come to a report within a second."""
    async with open_services(*api_urls, BriefRuns(pool)) as services, serving(services) as client:
        yield client


async def run_block(text: str, api: ApiClient, folder: Path, run: str = "") -> str:
    """What the block prints. The address, the key and an earlier block's run are ours."""
    ours = [line for line in text.splitlines() if not line.startswith(("API=", "KEY="))]
    prelude = f'{STRICT}API={api.address}\nKEY="Authorization: Bearer {HOME_KEY}"\nRUN={run}\n'
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", prelude + "\n".join(ours)), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, cwd=folder
    )
    said, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, said.decode()
    return said.decode()


@SHELL
async def test_from_a_question_to_a_report(brief: ApiClient, tmp_path: Path) -> None:
    [text] = [block for block in blocks("sh") if "/report " in block]
    said = await run_block(text, brief, tmp_path)
    assert said.count("event: run_created") == 1
    assert said.count('"status": "completed"') == 2
    assert (tmp_path / "report.md").read_text().startswith("# Tariffs")
    assert '"snapshot"' in (tmp_path / "evidence.json").read_text()


@SHELL
async def test_steering_and_webhooks(api: ApiClient, tmp_path: Path) -> None:
    [steering], [webhooks] = ([block for block in blocks("sh") if path in block] for path in ("/pause", "/webhooks"))
    said = await run_block(steering, api, tmp_path, await api.ask())
    assert '"status":"paused"' in said
    assert '"detail":"finishing"' in said
    assert "webhook.test" in await run_block(webhooks, api, tmp_path)


async def test_the_program(brief: ApiClient, capsys: pytest.CaptureFixture[str]) -> None:
    [text] = blocks("python")
    ours = text.replace("http://127.0.0.1:8321", brief.address).replace('api_key="..."', f'api_key="{HOME_KEY}"')
    assert ours.count(brief.address) == ours.count(str(HOME_KEY)) == 1
    await asyncio.to_thread(exec, ours.replace("time.sleep(2)", "time.sleep(0.2)"), {})
    said = capsys.readouterr().out
    assert said.startswith("# Tariffs")
    assert "[1] https://example.org/messages/1887" in said
