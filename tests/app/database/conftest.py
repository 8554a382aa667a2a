"""Fixtures: two organisations on one database, each with a finished run, and the API's own connection to it."""

import hashlib
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from uuid import UUID, uuid4

import asyncpg
import pytest

from app.accounts.nouns.access import AccessScope, Role
from app.accounts.nouns.api_key import ApiKey
from app.accounts.service.bootstrap import ensure_owner
from app.accounts.storage import organisations as accounts
from app.database.tenancy import Tenant, act_for
from app.domain.evidence import Quote, Source
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.report import Report, Section
from app.domain.run import EventType, RunStatus
from app.http.services import Services
from app.reports.rendering import render
from app.runs.storage import runs, tool_results
from app.runs.storage.run_log import RunLog, SourceSnapshot
from tests.app.served_api import ApiClient, serve_api
from tests.support.stage_opening import open_stage

PLAN = ResearchPlan(subtasks=(Subtask(id="s1", title="Duties", question="Which duties?"),))


@dataclass(frozen=True)
class OrganisationWithRun:
    """One organisation: its owner, the owner's key, and a run with all that a run leaves behind."""

    organisation: UUID
    owner: UUID
    key: ApiKey
    text: str
    run: UUID

    @property
    def snapshot(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


async def add_member(pool: asyncpg.Pool, organisation: UUID, role: Role, scopes: Iterable[AccessScope] = AccessScope) -> ApiKey:
    """Add a person to an organisation; return their key."""
    user, key = uuid4(), ApiKey.new()
    await accounts.ensure_user(pool, user, f"{user}@example.org")
    await accounts.ensure_membership(pool, organisation, user, role)
    await accounts.ensure_key(pool, key, organisation, user, role, scopes)
    return key


@pytest.fixture
async def houses(services: Services, pool: asyncpg.Pool) -> tuple[OrganisationWithRun, OrganisationWithRun]:
    """Two organisations. Each cites a source of its own: a source cited by both would be one row of `snapshots`."""
    return await make_organisation(services, pool, "Ours"), await make_organisation(services, pool, "Theirs")


async def make_organisation(services: Services, pool: asyncpg.Pool, name: str) -> OrganisationWithRun:
    organisation, owner, key, text = uuid4(), uuid4(), ApiKey.new(), f"The secret of {name}, {uuid4()}."
    async with pool.acquire() as connection:
        await ensure_owner(connection, key, organisation, owner, name, f"{owner}@example.org")
    with act_for(Tenant(organisation, owner)):
        run = await services.runs.create(ResearchQuery(question=f"What is the secret of {name}?"))
        await services.steering.add_note(run.id, text)
    made = OrganisationWithRun(organisation, owner, key, text, run.id)
    await write_research(pool, made)
    return made


async def write_research(pool: asyncpg.Pool, house: OrganisationWithRun) -> None:
    """Write what a worker writes."""
    log, run, name = RunLog(pool), house.run, house.snapshot
    await log.save_plan(run, PLAN, (), EventType.PLAN_MADE)
    opened = await open_stage(log, run, "search/s1", None, "Duties")
    await tool_results.remember(log.executor, run, "search", house.text.encode())
    await log.close_stage(run, "search/s1", opened.attempt, b"{}", [SourceSnapshot(name, house.text)], {}, [name])
    quote = Quote(
        source=Source(url="https://example.org/a", title="A", snapshot=name), text=house.text, start=0, end=len(house.text)
    )
    whole = Report(title="Secrets", sections=(Section(heading="Then", body=f"Told. [[{quote.key}]]"),), quotes=(quote,))
    found = await runs.get(pool, run)
    assert found is not None
    rendered = render(whole, found)
    await log.save_report(run, whole, rendered.renderings, rendered.evidence, rendered.told)
    await log.set_status(run, RunStatus.COMPLETED)


@pytest.fixture
async def ours(services: Services, houses: tuple[OrganisationWithRun, OrganisationWithRun]) -> AsyncIterator[ApiClient]:
    async with serve_api(services, houses[0].key) as client:
        yield client


@pytest.fixture
async def as_api(api_urls: tuple[str, str]) -> AsyncIterator[asyncpg.Connection]:
    """A connection as the API's role, which names no organisation yet."""
    connection = await asyncpg.connect(api_urls[0])
    yield connection
    await connection.close()
