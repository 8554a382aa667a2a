"""Both clients against the real API on a real database."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from app.database.engine import connect
from app.http.services import open_services
from app.runs.storage.run_log import RunLog, SourceSnapshot
from rubrica_client import AsyncClient, accounts, asking, documents, errors, organisation, reports, runs, service, webhooks
from rubrica_client.models import AccessScope, Budget, ExportFormat, NewRun, NewWebhook, RunStatus, Subtask, WebhookEvent
from tests.app.finished_run import HASH, TEXT, write_begin, write_end
from tests.app.served_api import InMemoryRuns, serve_api
from tests.client.hostile_server import LONG, QUICK, EitherClient, LoopClient, ThreadClient
from tests.support.accounts import HOME_KEY
from tests.support.stage_opening import open_stage


@pytest.fixture
async def pool(postgres_url: str) -> AsyncIterator[asyncpg.Pool]:
    opened = await connect(postgres_url)
    yield opened
    await opened.close()


@pytest.fixture
async def address(api_urls: tuple[str, str], pool: asyncpg.Pool, tmp_path: Path) -> AsyncIterator[str]:
    where: dict[str, Any] = {"retrieval_url": "http://127.0.0.1:9", "documents": tmp_path}
    async with open_services(*api_urls, InMemoryRuns(RunLog(pool)), **where) as services, serve_api(services) as served:
        yield served.address


@pytest.fixture(params=[LoopClient, ThreadClient], ids=["async", "sync"])
def client(request: pytest.FixtureRequest, address: str) -> EitherClient:
    made: EitherClient = request.param(address, QUICK, LONG, str(HOME_KEY))
    return made


async def finished(client: EitherClient, pool: asyncpg.Pool) -> str:
    """A run with a report."""
    run = await client.send(runs.create(NewRun(question="Who wrote it?", budget=Budget(max_tokens=5_000))))
    log, run_id = RunLog(pool), UUID(run.id)
    await write_begin(log, run_id)
    opened = await open_stage(log, run_id, "search/s1", None, "Revenue")
    told = {"stage": "search/s1", "title": "Revenue", "stop": "sufficient", "detail": "", "quotes": 2, "sources": 1, "usage": {}}
    await log.close_stage(run_id, "search/s1", opened.attempt, b"{}", [SourceSnapshot(HASH, TEXT)], told)
    await write_end(pool, log, run_id)
    return run.id


async def test_from_the_question_to_the_quote(client: EitherClient, pool: asyncpg.Pool) -> None:
    run_id = await finished(client, pool)
    report = await client.wait_for_report(run_id)
    events = await client.events(run_id)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert events[-1].payload["status"] == RunStatus.COMPLETED
    for citation in report.citations:
        text = await client.send(reports.snapshot(citation.source.snapshot))
        assert text[citation.start : citation.end] == citation.quote
    assert {citation.source.snapshot for citation in report.citations} == {HASH}
    assert text == TEXT
    assert (await client.send(reports.evidence(run_id))).citations == report.citations
    assert (await client.send(reports.markdown(run_id))).decode().startswith("# Tariffs")
    assert (await client.send(reports.export(run_id, ExportFormat.MD))).startswith(b"# Tariffs")


async def test_a_run_is_steered(client: EitherClient, pool: asyncpg.Pool) -> None:
    run = await client.send(runs.create(NewRun(question="Who wrote it?")))
    await write_begin(RunLog(pool), UUID(run.id))
    assert (await client.send(runs.add_note(run.id, "look at 1846"))).text == "look at 1846"
    plan = await client.send(runs.add_subtask(run.id, Subtask(id="s2", title="Later", question="And later?")))
    assert [subtask.id for subtask in plan.subtasks] == ["s1", "s2"]
    assert [subtask.id for subtask in (await client.send(runs.drop_subtask(run.id, "s2"))).subtasks] == ["s1"]
    assert (await client.send(runs.set_budget(run.id, Budget(max_tokens=7_000)))).budget.max_tokens == 7_000
    assert (await client.send(runs.pause(run.id))).status == "paused"
    assert (await client.send(runs.resume(run.id, finish=True))).status == "running"
    assert (await client.send(runs.cancel(run.id))).status == "cancelled"
    assert await client.send(runs.delete(run.id)) is None  # type: ignore[func-returns-value]
    with pytest.raises(errors.NotFound, match=f"there is no run {run.id}"):
        await client.send(runs.get(run.id))


async def test_a_repeated_question_is_one_run(client: EitherClient) -> None:
    question = runs.create(NewRun(question="Once?"))
    assert (await client.send(question)).id == (await client.send(question)).id
    assert (await client.send(runs.create(NewRun(question="Twice?")))).id != (await client.send(question)).id


async def test_refusals_are_errors_of_their_kind(client: EitherClient) -> None:
    with pytest.raises(errors.InvalidInput, match="the question is empty") as refused:
        await client.send(runs.create(NewRun(question=" ")))
    assert refused.value.status == 400
    with pytest.raises(errors.InvalidInput) as refused:
        await client.send(runs.create(NewRun(question="Why?", audience="x" * 500)))
    assert [error.field for error in refused.value.errors] == ["audience"]
    run = await client.send(runs.create(NewRun(question="Who wrote it?")))
    with pytest.raises(errors.Conflict):
        await client.send(runs.delete(run.id))
    with pytest.raises(errors.NotFound):
        await client.send(reports.get(run.id))


async def test_documents_are_sent(client: EitherClient) -> None:
    made = await client.send(documents.create_collection("notes"))
    received = await client.send(documents.upload(made.id, [("Ça va.txt", b"Duties are high."), ("b.txt", b"So they said.")]))
    assert {document.name for document in received.items} == {"Ça va.txt", "b.txt"}
    assert len((await client.send(documents.list_(made.id))).items) == 2
    await client.send(documents.delete_collection(made.id))


async def test_what_surrounds_runs(client: EitherClient) -> None:
    me = await client.send(accounts.me())
    assert AccessScope.RUNS_WRITE in me.scopes
    made = await client.send(
        webhooks.create(NewWebhook(url="https://hooks.example.org/x", events=[WebhookEvent("run.completed")]))
    )
    assert made.secret.startswith("whsec_")
    assert (await client.send(webhooks.get(made.webhook.id))).events == ["run.completed"]
    await client.send(webhooks.delete(made.webhook.id))
    assert (await client.send(organisation.quotas())).used.runs >= 0
    assert (await client.send(organisation.audit())).items
    assert (await client.send(service.tools())).items
    assert (await client.send(asking.estimate(NewRun(question="Who wrote it?")))).seconds.likely > 0


async def test_lists_come_whole(address: str) -> None:
    async with AsyncClient(address, str(HOME_KEY), trust_env=False) as client:
        asked = [(await client.send(runs.create(NewRun(question=f"Number {n}?")))).id for n in range(5)]
        found: list[Any] = [run.id async for run in client.each(runs.list_(limit=2, words="number"))]
    assert found[:5] == asked[::-1]


async def test_a_wrong_key_is_told(address: str) -> None:
    with pytest.raises(errors.Unauthenticated):
        await LoopClient(address, QUICK, LONG, "rbk_wrong").send(runs.list_())
