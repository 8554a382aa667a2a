"""docs/api.md, docs/asking.md and the client's page: their commands and programs are run as they stand, against a real API."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import asyncpg
import orjson
import pytest

from app.domain.revision import VersionInfo, VersionOrigin
from app.http.services import open_services
from app.reports.storage import versions
from app.runs.storage.run_log import Renderings
from app.webhooks.nouns import WebhookEvent
from tests.app.finished_run import make_report
from tests.app.served_api import ApiClient, serve_api
from tests.support.accounts import HOME_KEY
from tests.support.fuzzed_api import BriefRuns

ROOT = Path(__file__).parents[3]
DOCS, CLIENT = ROOT / "docs", (ROOT / "rubrica_client" / "README.md").read_text()
PAGE, ASKING = (DOCS / "api.md").read_text(), (DOCS / "asking.md").read_text()
RUN_HERE = ("/report ", "/pause", "/webhooks", "/rewrite")
# A command that fails, or is answered with an error, ends the block.
STRICT = 'set -euo pipefail; curl() { command curl --fail-with-body --max-time 30 "$@"; }\n'
SHELL = pytest.mark.skipif(not all(map(shutil.which, ("bash", "curl", "jq"))), reason="needs bash, curl and jq")


def blocks(language: str, page: str = PAGE) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


class ChangedRuns(BriefRuns):
    """Whose reports are also changed: a section gets other words."""

    async def start_task(self, run_id: UUID, task_id: UUID) -> None:
        changed = make_report().model_copy(update={"title": "Tariffs, deeper"})
        info = VersionInfo(n=2, origin=VersionOrigin.DEEPENED, based_on=1, section=1, created_at=datetime.now(UTC))
        await versions.add(self.database, run_id, info, changed, Renderings("", ""), {})
        await self.database.execute("UPDATE report_tasks SET status = 'done', version = 2 WHERE id = $1", task_id)


@pytest.fixture
async def brief(api_urls: tuple[str, str], pool: asyncpg.Pool) -> AsyncIterator[ApiClient]:
    """An API whose runs come to a report within a second."""
    async with open_services(*api_urls, ChangedRuns(pool)) as services, serve_api(services) as client:
        yield client


async def run_block(text: str, api: ApiClient, folder: Path, run: str = "") -> str:
    """What the block prints. The address, the key and an earlier block's run are ours."""
    ours = [line for line in text.splitlines() if not line.startswith(("API=", "KEY="))]
    prelude = f'{STRICT}API={api.address}\nKEY="Authorization: Bearer {HOME_KEY}"\nRUN={run}\n'
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", prelude + "\n".join(ours)), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, cwd=folder
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()
    return said.decode()


def test_every_block_is_run_by_a_test_here() -> None:
    for block in blocks("sh"):
        assert sum(word in block for word in RUN_HERE) == 1, block
    assert (len(blocks("sh", ASKING)), len(blocks("python")), len(blocks("python", ASKING))) == (3, 2, 0)
    assert set(re.findall(r"```(\w+)\n", PAGE + ASKING)) == {"sh", "python", "json"}


@SHELL
async def test_a_finished_report_is_changed(brief: ApiClient, tmp_path: Path) -> None:
    [text] = [block for block in blocks("sh") if "/rewrite" in block]
    run = await brief.ask()
    assert [event async for event in brief.events(run)][-1]["payload"]["status"] == "completed"
    said = await run_block(text, brief, tmp_path, run)
    assert 'ETag: "1"' in said or 'etag: "1"' in said
    assert '"status":"done"' in said
    assert '"version":2' in said


@SHELL
async def test_a_rubric_is_drafted_edited_and_given_with_the_question(api: ApiClient, tmp_path: Path) -> None:
    said = orjson.loads(await run_block(blocks("sh", ASKING)[0], api, tmp_path))
    kept = (await api.get(f"/v1/runs/{said['id']}/rubric")).json
    assert (kept["rubric"]["criteria"][0]["title"], kept["rubric"]["origin"]) == ("The act of 1934", "reader")
    assert kept["drafted"]["criteria"][1:] == kept["rubric"]["criteria"][1:]


@SHELL
async def test_several_systems_work_a_question_side_by_side(api: ApiClient, tmp_path: Path) -> None:
    await run_block(blocks("sh", ASKING)[1], api, tmp_path)
    columns = orjson.loads((tmp_path / "beside.json").read_bytes())["columns"]
    assert [column["run"]["query"]["system"] for column in columns] == ["minddr", "mams", "react", "deeprubric"]


@SHELL
async def test_a_finished_report_is_judged_afterwards(brief: ApiClient, tmp_path: Path) -> None:
    run = await brief.ask()
    assert [event async for event in brief.events(run)][-1]["payload"]["status"] == "completed"
    shown = orjson.loads(await run_block(blocks("sh", ASKING)[2], brief, tmp_path, run))
    assert [column["run"]["id"] for column in shown["columns"]] == [run]
    assert shown["rubric"] == (await brief.get(f"/v1/runs/{run}/rubric")).json["rubric"]


async def test_what_is_shown_as_an_answer_is_answered_so(brief: ApiClient) -> None:
    cited, told, problem = (orjson.loads(block) for block in blocks("json"))
    assert (await brief.post("/v1/runs", {"question": ""})).json == problem
    run = await brief.ask()
    assert [event async for event in brief.events(run)][-1]["payload"]["status"] == told["data"]["status"]
    found = (await brief.get(f"/v1/runs/{run}/evidence")).json["citations"][0]
    assert cited.keys() - {"page"} == found.keys(), "an address has no pages"
    assert cited["source"].keys() <= found["source"].keys()
    assert WebhookEvent(told["type"]) is WebhookEvent.RUN_COMPLETED


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


@pytest.mark.parametrize("text", [*blocks("python"), *blocks("python", CLIENT)], ids=["client", "openai", "client's page"])
async def test_the_programs(brief: ApiClient, capsys: pytest.CaptureFixture[str], text: str) -> None:
    ours = text.replace("http://127.0.0.1:8321", brief.address).replace('key="..."', f'key="{HOME_KEY}"')
    assert ours.count(brief.address) == ours.count(str(HOME_KEY)) == 1
    await asyncio.to_thread(exec, ours.replace("time.sleep(2)", "time.sleep(0.2)"), {})
    said = capsys.readouterr().out
    assert "# Tariffs" in said
    assert "https://example.org/messages/1887" in said
