"""Makes an organisation with a private collection, and people of whom some may use it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid4

import asyncpg

from app.accounts.nouns.access import AccessScope, Role
from app.accounts.nouns.api_key import ApiKey
from app.accounts.storage import organisations as accounts
from app.collections.nouns import Access
from app.database.tenancy import Tenant, act_for
from app.domain.query import ResearchQuery
from app.domain.schedules import Timing
from app.http.services import Services
from bench.private_run import CHANGES, DOCUMENT, LEDGER, TWIN, write_private_run, write_second_report, write_twin_run
from bench.tenancy_belongings import CHAIN, RUNS

MAY_READ = frozenset({"owner", "maker", "shared with"})
ROLES = {
    "owner": Role.OWNER,
    "maker": Role.MEMBER,
    "shared with": Role.MEMBER,
    "colleague": Role.MEMBER,
    "viewer": Role.VIEWER,
    "withdrawn": Role.MEMBER,
    "other organisation": Role.OWNER,
}
DOCUMENTS = """
    INSERT INTO collection_documents (id, organisation_id, collection_id, name, bytes, state, snapshot)
    SELECT gen_random_uuid(), $1, $2, name, 9, 'indexed', encode(sha256(convert_to(body, 'UTF8')), 'hex')
    FROM unnest($3::text[], $4::text[]) AS given (name, body)"""
FIRING = """
    INSERT INTO schedule_firings (schedule_id, due_at, organisation_id, outcome, run_id, baseline_id, changes)
    VALUES ($1, $2, $3, 'changed', $4, $4, $5)"""
WITHDRAW = "UPDATE collections SET users = $2 WHERE id = $1"


@dataclass(frozen=True)
class HousePerson:
    """Somebody with a key of these scopes."""

    name: str
    tenant: Tenant
    key: ApiKey
    scopes: frozenset[AccessScope] = frozenset(AccessScope)

    @property
    def user(self) -> UUID:
        """The id of the person."""
        assert self.tenant.user is not None
        return self.tenant.user

    @property
    def headers(self) -> dict[str, str]:
        """The header that carries the key."""
        return {"Authorization": f"Bearer {self.key}"}


@dataclass(frozen=True)
class PrivateHouse:
    """The organisation's people by name, and the ids of what a run on its private collection left."""

    people: dict[str, HousePerson]
    collection: UUID
    run: UUID
    twin_run: UUID
    question: UUID
    comparison: UUID
    made_run: UUID
    schedule: UUID
    link: str

    @property
    def things(self) -> dict[tuple[str, str], str]:
        """What addresses may name."""
        return {
            ("", "run_id"): str(self.run),
            ("", "snapshot"): LEDGER.snapshot,
            ("", "subtask_id"): "s1",
            **{("", name): number for name, number in (("n", "1"), ("k", "0"), ("claim", "0"))},
            ("collections", "collection_id"): str(self.collection),
            ("comparisons", "comparison_id"): str(self.comparison),
            ("schedules", "schedule_id"): str(self.schedule),
            ("shared", "token"): self.link,
            ("v1", "response_id"): f"resp_{self.run.hex}",
            ("v1", "model"): "minddr-quick",
            (f"{RUNS}/questions/{{task_id:uuid}}", "task_id"): str(self.question),
        }

    @property
    def queries(self) -> dict[str, str]:
        """What is put behind an address that needs more."""
        return {"/v1/retrieve": "?query=cargo", f"{RUNS}/export": "?format=json", f"{RUNS}/versions/{{n:int}}/diff": "?with=1"}


async def seed_private_house(services: Services, database: asyncpg.Pool) -> PrivateHouse:
    """Make the house. `withdrawn` could use the collection when the run was asked, and may not any more."""
    people = await add_people(database)
    maker, organisation = people["maker"], people["maker"].tenant.organisation
    with act_for(maker.tenant):
        access = Access(everyone=False, users=(people["shared with"].user, people["withdrawn"].user))
        collection = (await services.collections.create("Drawer", access)).id
        await database.execute(DOCUMENTS, organisation, collection, ["ledger.txt", "notice.txt"], [DOCUMENT, TWIN])
        run = (await services.runs.create(ResearchQuery(question="Which cargo?", collections=("Drawer",)))).id
        twin_run = (await services.runs.create(ResearchQuery(question="Which notice?"))).id
    question = await write_private_run(database, run, people["withdrawn"].user)
    await write_twin_run(database, twin_run)
    with act_for(maker.tenant):
        pair = await services.preferences.comparisons.create(run, CHAIN, maker.user)
        timing = Timing(cron="0 8 * * mon")
        schedule = (await services.schedules.create("Weekly", ResearchQuery(question="Which cargo?"), timing, (), run)).id
        link = (await services.sharing.share(run, 7, None)).token
    await write_second_report(database, organisation, pair.id, pair.made_run_id)
    due_at = datetime(2026, 1, 5, 8, tzinfo=UTC)
    await database.execute(FIRING, schedule, due_at, organisation, run, CHANGES.model_dump_json())
    await database.execute(WITHDRAW, collection, [people["shared with"].user])
    return PrivateHouse(people, collection, run, twin_run, question, pair.id, pair.made_run_id, schedule, link)


async def add_people(database: asyncpg.Pool) -> dict[str, HousePerson]:
    """Add the people of two organisations, by name."""
    home, other = uuid4(), uuid4()
    for organisation in (home, other):
        await accounts.ensure_organisation(database, organisation, f"House {organisation}")
    return {
        name: await _add_person(database, other if name == "other organisation" else home, name, role)
        for name, role in ROLES.items()
    }


async def _add_person(database: asyncpg.Pool, organisation: UUID, name: str, role: Role) -> HousePerson:
    person = HousePerson(name, Tenant(organisation, uuid4()), ApiKey.new())
    await accounts.ensure_user(database, person.user, f"{person.user}@example.org")
    await accounts.ensure_membership(database, organisation, person.user, role)
    await accounts.ensure_key(database, person.key, organisation, person.user, name, AccessScope)
    return person


async def narrow(database: asyncpg.Pool, person: HousePerson, scopes: frozenset[AccessScope]) -> HousePerson:
    """Return the same person with another key, which has these scopes alone."""
    key = ApiKey.new()
    await accounts.ensure_key(database, key, person.tenant.organisation, person.user, "narrow", scopes)
    return HousePerson(f"{person.name}, {' '.join(sorted(scopes))} alone", person.tenant, key, scopes)
