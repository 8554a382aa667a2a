"""The page's client against the real API on a real database, so that the stand-in used elsewhere cannot drift from it."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg
import pytest

from app.asking.storage import rubrics
from app.database.engine import connect
from app.domain.budget import Budget
from app.domain.evidence import Quote, Source
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.report import Report, Section
from app.domain.run import EventType, RunStatus
from app.domain.scorecard import CriterionScore, scorecard_of
from app.http.services import open_services
from app.reports.rendering import render
from app.runs.storage import runs
from app.runs.storage.run_log import RunLog, Snapshot
from tests.app.support import InMemoryRuns, serving
from tests.support.accounts import HOME_HEADERS
from tests.support.opening import open_stage
from ui.api_client import ApiClient, ApiProblem
from ui.client import asking
from ui.components.exports import DOCUMENTS, REFERENCES
from ui.components.report_view import article
from ui.event_feed import EventFeed
from ui.language import LANGUAGES, table
from ui.models import Budget as BudgetShown
from ui.models import NewRun, Run
from ui.progress import fold
from ui.sentences import SENTENCES
from workflows.judging.general_rubric import general_rubric

TEXT = "The tariff of 1846 lowered duties. It was passed by a narrow margin."
SNAPSHOT = hashlib.sha256(TEXT.encode()).hexdigest()
QUOTE = Quote(source=Source(url="https://example.org/1846", title="1846", snapshot=SNAPSHOT), text=TEXT[:34], start=0, end=34)
PLAN = ResearchPlan(subtasks=(Subtask(id="s1", title="Duties", question="Which duties?"),))


@pytest.fixture
async def pool(postgres_url: str) -> AsyncIterator[asyncpg.Pool]:
    opened = await connect(postgres_url)
    yield opened
    await opened.close()


@pytest.fixture
async def client(api_urls: tuple[str, str], pool: asyncpg.Pool) -> AsyncIterator[ApiClient]:
    async with open_services(*api_urls, InMemoryRuns(RunLog(pool))) as services, serving(services) as served:
        yield ApiClient(served.address, HOME_HEADERS)


async def ask(client: ApiClient) -> Run:
    return await asyncio.to_thread(client.start_run, NewRun(question="Which duties?", effort="quick", budget=BudgetShown()))


async def search(log: RunLog, run_id: UUID) -> None:
    """What a worker writes for one search."""
    await log.save_plan(run_id, PLAN, (), EventType.PLAN_MADE)
    opened = await open_stage(log, run_id, "search/s1", None, "Duties")
    told = {"stage": "search/s1", "title": "Duties", "stop": "sufficient", "detail": "", "quotes": 1, "sources": 1, "usage": {}}
    await log.close_stage(run_id, "search/s1", opened.attempt, b"{}", [Snapshot(SNAPSHOT, TEXT)], told)


async def report(pool: asyncpg.Pool, run_id: UUID) -> None:
    """What a worker writes at the end."""
    log, run = RunLog(pool), await runs.get(pool, run_id)
    assert run is not None
    whole = Report(title="Duties", sections=(Section(heading="Then", body=f"Lower. [[{QUOTE.key}]]"),), quotes=(QUOTE,))
    rendered = render(whole, run)
    await log.save_report(run_id, whole, rendered.renderings, rendered.evidence, rendered.told)
    await log.set_status(run_id, RunStatus.COMPLETED)


async def test_from_the_question_to_the_quote(client: ApiClient, pool: asyncpg.Pool) -> None:
    run, log = await ask(client), RunLog(pool)
    await search(log, UUID(run.id))
    await report(pool, UUID(run.id))

    feed = EventFeed(ApiClient(client.base_url, HOME_HEADERS), run.id)
    state = await asyncio.to_thread(feed.look)
    while not state.ended:
        state = await asyncio.to_thread(feed.look)
    progress = fold(state.events)
    assert progress.stage("search/s1").state == "done"
    assert progress.report == {"sections": 1, "citations": 1, "words": 2}

    shown = await asyncio.to_thread(client.report, run.id)
    text = article(shown).html
    assert "Lower. </span>" in text or "Lower. <button" in text
    assert "Question" not in text
    assert "Sources" not in text
    citation = shown.citations[0]
    stored = await asyncio.to_thread(client.snapshot, citation.source.snapshot)
    assert stored[citation.start : citation.end] == citation.quote == QUOTE.text
    for form in (*DOCUMENTS, *REFERENCES):
        assert await asyncio.to_thread(client.export, run.id, form.name), form


async def test_steering(client: ApiClient, pool: asyncpg.Pool) -> None:
    run = await ask(client)
    await asyncio.to_thread(client.add_note, run.id, "look at 1846")
    await asyncio.to_thread(client.pause, run.id)
    assert (await asyncio.to_thread(client.run, run.id)).status == "paused"
    await asyncio.to_thread(client.set_budget, run.id, BudgetShown(max_tokens=5_000))
    await asyncio.to_thread(client.resume, run.id, finish=True)
    shown = await asyncio.to_thread(client.run, run.id)
    assert (shown.status, shown.budget.max_tokens) == ("running", 5_000)
    await asyncio.to_thread(client.cancel, run.id)
    with pytest.raises(ApiProblem) as caught:
        await asyncio.to_thread(client.add_note, run.id, "too late")
    assert caught.value.status == 409
    assert "cancelled" in caught.value.detail


async def test_what_the_api_refuses_is_shown_in_its_words(client: ApiClient) -> None:
    for question in ("", "x" * 9_000):
        with pytest.raises(ApiProblem) as caught:
            await asyncio.to_thread(client.start_run, NewRun(question=question))
        assert caught.value.status == 400
        assert "question" in caught.value.detail


async def test_history_in_pages(client: ApiClient) -> None:
    asked = [(await ask(client)).id for _ in range(3)]
    first = await asyncio.to_thread(client.runs, 2)
    second = await asyncio.to_thread(client.runs, 2, first.next)
    assert [run.id for run in (*first.items, *second.items)][:3] == asked[::-1]


async def test_history_is_searched(client: ApiClient, pool: asyncpg.Pool) -> None:
    run = await ask(client)
    await report(pool, UUID(run.id))
    for words in ("WHICH duties", "lower then", "1846"):
        assert (await asyncio.to_thread(client.runs, words=words)).items[0].id == run.id, words
    for words in ("which treaties", "100%", "d_ties", "\\"):
        assert (await asyncio.to_thread(client.runs, words=words)).items == (), words


def test_the_page_knows_every_kind_of_event_and_status() -> None:
    assert set(SENTENCES) >= {kind.value for kind in EventType}
    for language in LANGUAGES:
        assert {status.value for status in RunStatus} <= {key.removeprefix("status.") for key in table(language)}
    assert set(BudgetShown.model_fields) == set(Budget.model_fields)


async def test_what_is_settled_around_a_run(client: ApiClient, pool: asyncpg.Pool) -> None:
    """Through the page's module for it."""
    new, log = NewRun(question="Which duties?", effort="quick"), RunLog(pool)
    guess = await asyncio.to_thread(asking.estimate, client, new)
    assert guess.seconds.low < guess.seconds.high
    assert [q.question for q in (await asyncio.to_thread(asking.clarify, client, new)).questions] == ["Which country?"]
    drafted = await asyncio.to_thread(asking.draft_rubric, client, new)
    criteria = [criterion.model_dump() for criterion in drafted.rubric.criteria]
    asked = new.model_copy(update={"approve_plan": True, "rubric": {"draft": drafted.id, "criteria": criteria}})
    run = await asyncio.to_thread(client.start_run, asked)
    assert (await asyncio.to_thread(asking.rubric, client, run.id)).drafted == drafted.rubric
    mine = asking.Criterion(title="Mine", description="Optional Criterion: Is short.", weight=1)
    edited = await asyncio.to_thread(asking.edit_rubric, client, run.id, [*drafted.rubric.criteria, mine])
    assert edited.rubric.criteria[-1] == mine
    await log.set_status(UUID(run.id), RunStatus.AWAITING_APPROVAL)
    assert (await asyncio.to_thread(asking.approve, client, run.id)).status == "running"
    with pytest.raises(ApiProblem) as refused:
        await asyncio.to_thread(asking.scorecard, client, run.id)
    assert refused.value.status == 404
    card = scorecard_of(
        CriterionScore(criterion=c, missing="no model") for c in general_rubric(ResearchQuery(question="x?")).criteria
    )
    await rubrics.save_scorecard(pool, UUID(run.id), card)
    shown = await asyncio.to_thread(asking.scorecard, client, run.id)
    assert (shown.judged, shown.overall, shown.items[0].missing) == (0, None, "no model")
