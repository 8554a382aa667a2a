"""Makes organisations with people, keys, a finished run and all that a run leaves behind."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID, uuid4

import asyncpg

from app.accounts.nouns.access import AccessScope, Principal, Role
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
from bench.tenancy_belongings import add_belongings
from tests.support.stage_opening import open_stage

PLAN = ResearchPlan(subtasks=(Subtask(id="revenue", title="Duties", question="Which duties?"),))
FOUND = b'{"subtask_id": "revenue", "stop": "sufficient"}'
TABLES = """
    SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
    AND c.relname NOT IN ('alembic_version', 'api_keys', 'rate_buckets')"""


class KeyOwner(NamedTuple):
    """A person with a key."""

    key: ApiKey
    user: UUID

    @property
    def headers(self) -> dict[str, str]:
        """The header that carries the key."""
        return {"Authorization": f"Bearer {self.key}"}


@dataclass(frozen=True)
class SeededOrganisation:
    """One organisation. `things` are what addresses may name: by the address's second word, or by any, and the parameter."""

    organisation: UUID
    owner: ApiKey
    members: dict[Role, KeyOwner]
    without: dict[AccessScope, KeyOwner]
    run: UUID
    text: str
    things: dict[tuple[str, str], str]
    queries: dict[str, str]

    @property
    def secrets(self) -> list[str]:
        """Texts that no other organisation may read anywhere: words of its own, and ids that addresses here do not name."""
        return [self.text, str(self.organisation), f"the-owner-of-{self.organisation}"]


async def seed_organisation(services: Services, database: asyncpg.Pool, name: str) -> SeededOrganisation:
    """Make a new organisation with all of it."""
    organisation, user, key, text = uuid4(), uuid4(), ApiKey.new(), f"The secret of {name}, {uuid4()}."
    async with database.acquire() as connection:
        await ensure_owner(connection, key, organisation, user, f"{name} {text}", f"the-owner-of-{organisation}@example.org")
    members = {role: await add_member(database, organisation, role) for role in Role}
    without = {scope: await add_member(database, organisation, Role.OWNER, set(AccessScope) - {scope}) for scope in AccessScope}
    leaver = await add_member(database, organisation, Role.VIEWER)
    with act_for(Tenant(organisation, user)):
        run = await services.runs.create(ResearchQuery(question=f"What is {text}"))
        await services.steering.add_note(run.id, text)
        owner = Principal(organisation_id=organisation, user_id=user, role=Role.OWNER, scopes=frozenset(AccessScope))
        invited = await services.accounts.team.invite(owner, f"guest-{organisation}@example.org", Role.MEMBER)
    snapshot = await write_research(database, run.id, text)
    with act_for(Tenant(organisation, user)):
        more = await add_belongings(services, database, organisation, user, members[Role.MEMBER].user, run.id, text)
    things = {
        ("", "run_id"): str(run.id),
        ("", "snapshot"): snapshot,
        ("", "subtask_id"): "revenue",
        ("", "role"): "writer",
        ("members", "user"): str(leaver.user),
        ("keys", "key"): str(leaver.key.id),
        ("invitations", "invitation"): str(invited.invitation.id),
        ("v1", "response_id"): f"resp_{run.id.hex}",
        ("v1", "model"): "minddr-quick",
    } | more
    queries = {"/v1/retrieve": "?query=secret"}
    return SeededOrganisation(organisation, key, members, without, run.id, text, things, queries)


async def add_member(
    database: asyncpg.Pool, organisation: UUID, role: Role, scopes: Iterable[AccessScope] = AccessScope
) -> KeyOwner:
    """Add a person; return their key."""
    user, key = uuid4(), ApiKey.new()
    await accounts.ensure_user(database, user, f"{user}@example.org")
    await accounts.ensure_membership(database, organisation, user, role)
    await accounts.ensure_key(database, key, organisation, user, role, scopes)
    return KeyOwner(key, user)


async def write_research(database: asyncpg.Pool, run_id: UUID, text: str) -> str:
    """Write what a worker writes; return the hash of the one source."""
    log, name = RunLog(database), hashlib.sha256(text.encode()).hexdigest()
    await log.save_plan(run_id, PLAN, (), EventType.PLAN_MADE)
    opened = await open_stage(log, run_id, "search/revenue", None, "Duties")
    summary = {"stage": "search/revenue", "title": "Duties", "stop": "sufficient", "quotes": 1, "sources": 1}
    await tool_results.remember(log.executor, run_id, "search", text.encode())
    await log.close_stage(run_id, "search/revenue", opened.attempt, FOUND, [SourceSnapshot(name, text)], summary, [name])
    quote = Quote(source=Source(url="https://example.org/a", title=text, snapshot=name), text=text, start=0, end=len(text))
    whole = Report(title=text, sections=(Section(heading="Then", body=f"{text} [[{quote.key}]]"),), quotes=(quote,))
    found = await runs.get(database, run_id)
    assert found is not None
    rendered = render(whole, found)
    await log.save_report(run_id, whole, rendered.renderings, rendered.evidence, rendered.told)
    await log.set_status(run_id, RunStatus.COMPLETED)
    return name


async def digest_rows(database: asyncpg.Pool, house: SeededOrganisation) -> dict[str, str]:
    """Return a digest of each table's rows that name the house or its run. When a key was last used does not count."""
    marks = [str(house.organisation), str(house.run), house.things["", "snapshot"]]
    named = "EXISTS (SELECT FROM unnest($1::text[]) AS mark WHERE strpos(t::text, mark) > 0)"
    found = {}
    for table in [row["relname"] for row in await database.fetch(TABLES)]:
        digest = await database.fetchval(
            f"SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {table} t WHERE {named}", marks
        )
        found[table] = digest or ""
    return found
