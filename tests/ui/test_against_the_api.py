"""The page's client against the real API on a real database, so that the stand-in used elsewhere cannot drift from it."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from typing import TypeVar
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
from app.runs.storage.run_log import RunLog, SourceSnapshot
from rubrica_client import ApiError, Client, asking, reports
from rubrica_client import runs as calls
from rubrica_client.models import Budget as BudgetShown
from rubrica_client.models import Criterion, Effort, GivenRubric, NewRun, Run
from rubrica_client.request import Request
from tests.app.served_api import InMemoryRuns, serve_api
from tests.support.accounts import HOME_HEADERS
from tests.support.stage_opening import open_stage
from ui.components.exports import DOCUMENTS, REFERENCES
from ui.components.report_view import make_article
from ui.event_feed import EventFeed
from ui.language import LANGUAGES, load_table
from ui.progress import fold_events
from ui.report import PageReport
from ui.sentences import SENTENCES
from ui.session import open_client
from workflows.judging.general_rubric import make_general_rubric

T = TypeVar("T")
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
async def client(api_urls: tuple[str, str], pool: asyncpg.Pool) -> AsyncIterator[Client]:
    async with open_services(*api_urls, InMemoryRuns(RunLog(pool))) as services, serve_api(services) as served:
        yield open_client(served.address, HOME_HEADERS)


async def sent(client: Client, request: Request[T]) -> T:
    return await asyncio.to_thread(client.send, request)


async def ask(client: Client) -> Run:
    return await sent(client, calls.create(NewRun(question="Which duties?", effort=Effort.QUICK, budget=BudgetShown())))


async def search(log: RunLog, run_id: UUID) -> None:
    """What a worker writes for one search."""
    await log.save_plan(run_id, PLAN, (), EventType.PLAN_MADE)
    opened = await open_stage(log, run_id, "search/s1", None, "Duties")
    told = {"stage": "search/s1", "title": "Duties", "stop": "sufficient", "detail": "", "quotes": 1, "sources": 1, "usage": {}}
    await log.close_stage(run_id, "search/s1", opened.attempt, b"{}", [SourceSnapshot(SNAPSHOT, TEXT)], told)


async def report(pool: asyncpg.Pool, run_id: UUID) -> None:
    """What a worker writes at the end."""
    log, run = RunLog(pool), await runs.get(pool, run_id)
    assert run is not None
    whole = Report(title="Duties", sections=(Section(heading="Then", body=f"Lower. [[{QUOTE.key}]]"),), quotes=(QUOTE,))
    rendered = render(whole, run)
    await log.save_report(run_id, whole, rendered.renderings, rendered.evidence, rendered.told)
    await log.set_status(run_id, RunStatus.COMPLETED)


async def test_from_the_question_to_the_quote(client: Client, pool: asyncpg.Pool) -> None:
    run, log = await ask(client), RunLog(pool)
    await search(log, UUID(run.id))
    await report(pool, UUID(run.id))

    feed = EventFeed(client.address.url, HOME_HEADERS, run.id)
    state = await asyncio.to_thread(feed.look)
    while not state.ended:
        state = await asyncio.to_thread(feed.look)
    progress = fold_events(state.events)
    assert progress.find_stage("search/s1").state == "done"
    assert progress.report == {"sections": 1, "citations": 1, "words": 2}

    shown = await sent(client, reports.get(run.id))
    text = make_article(PageReport.of(shown)).html
    assert "Lower. </span>" in text or "Lower. <button" in text
    assert "Question" not in text
    assert "Sources" not in text
    citation = shown.citations[0]
    stored = await sent(client, reports.snapshot(citation.source.snapshot))
    assert stored[citation.start : citation.end] == citation.quote == QUOTE.text
    for form in (*DOCUMENTS, *REFERENCES):
        assert await sent(client, reports.export(run.id, form.name)), form


async def test_steering(client: Client, pool: asyncpg.Pool) -> None:
    run = await ask(client)
    await sent(client, calls.add_note(run.id, "look at 1846"))
    await sent(client, calls.pause(run.id))
    assert (await sent(client, calls.get(run.id))).status == "paused"
    await sent(client, calls.set_budget(run.id, BudgetShown(max_tokens=5_000)))
    await sent(client, calls.resume(run.id, finish=True))
    shown = await sent(client, calls.get(run.id))
    assert (shown.status, shown.budget.max_tokens) == ("running", 5_000)
    await sent(client, calls.cancel(run.id))
    with pytest.raises(ApiError) as caught:
        await sent(client, calls.add_note(run.id, "too late"))
    assert caught.value.status == 409
    assert "cancelled" in caught.value.detail


async def test_what_the_api_refuses_is_shown_in_its_words(client: Client) -> None:
    for question in ("", "x" * 9_000):
        with pytest.raises(ApiError) as caught:
            await sent(client, calls.create(NewRun(question=question)))
        assert caught.value.status == 400
        assert "question" in caught.value.detail


async def test_history_in_pages(client: Client) -> None:
    asked = [(await ask(client)).id for _ in range(3)]
    first = await sent(client, calls.list_(2))
    second = await sent(client, calls.list_(2, first.next))
    assert [run.id for run in (*first.items, *second.items)][:3] == asked[::-1]


async def test_history_is_searched(client: Client, pool: asyncpg.Pool) -> None:
    run = await ask(client)
    await report(pool, UUID(run.id))
    for words in ("WHICH duties", "lower then", "1846"):
        assert (await sent(client, calls.list_(words=words))).items[0].id == run.id, words
    for words in ("which treaties", "100%", "d_ties", "\\"):
        assert (await sent(client, calls.list_(words=words))).items == [], words


def test_the_page_knows_every_kind_of_event_and_status() -> None:
    assert set(SENTENCES) >= {kind.value for kind in EventType}
    for language in LANGUAGES:
        assert {status.value for status in RunStatus} <= {key.removeprefix("status.") for key in load_table(language)}
    assert set(BudgetShown.model_fields) == set(Budget.model_fields)


async def test_what_is_settled_around_a_run(client: Client, pool: asyncpg.Pool) -> None:
    new, log = NewRun(question="Which duties?", effort=Effort.QUICK), RunLog(pool)
    guess = await sent(client, asking.estimate(new))
    assert guess.seconds.low < guess.seconds.high
    assert [q.question for q in (await sent(client, asking.clarify(new))).questions] == ["Which country?"]
    drafted = await sent(client, asking.draft_rubric(new))
    rubric = GivenRubric(draft=drafted.id, criteria=drafted.rubric.criteria)
    asked = new.model_copy(update={"approve_plan": True, "rubric": rubric})
    run = await sent(client, calls.create(asked))
    assert (await sent(client, asking.rubric(run.id))).drafted == drafted.rubric
    mine = Criterion(title="Mine", description="Optional Criterion: Is short.", weight=1)
    edited = await sent(client, asking.edit_rubric(run.id, [*drafted.rubric.criteria, mine]))
    assert edited.rubric.criteria[-1] == mine
    await log.set_status(UUID(run.id), RunStatus.AWAITING_APPROVAL)
    assert (await sent(client, calls.approve(run.id))).status == "running"
    with pytest.raises(ApiError) as refused:
        await sent(client, asking.scorecard(run.id))
    assert refused.value.status == 404
    card = scorecard_of(
        CriterionScore(criterion=c, missing="no model") for c in make_general_rubric(ResearchQuery(question="x?")).criteria
    )
    await rubrics.save_scorecard(pool, UUID(run.id), card)
    shown = await sent(client, asking.scorecard(run.id))
    assert (shown.judged, shown.overall, shown.items[0].missing) == (0, None, "no model")
