"""Collections that fit a question are searched unless the request says otherwise, and nobody else's ever are."""

import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import asyncpg

from app.accounts.nouns.access import Role
from app.domain.options import SourceKind
from app.http.services import Services, open_services
from tests.app.collections.conftest import send, settled
from tests.app.database.conftest import OrganisationWithRun, add_member
from tests.app.served_api import ApiClient, InMemoryRuns, serve_api
from tests.retrieval.service.owner_process import OwnerProcess

LEASE = b"# Lease\n\nThe lease of the warehouse ends on 3 May 2031. Its rent is paid in advance."
BOILER = "锅炉每年检修一次。检修由注册工程师完成。".encode()
QUESTION = "When does the lease of the warehouse end?"
CHOSEN: tuple[tuple[dict[str, Any], list[str], bool], ...] = (
    ({"collections": []}, [], True),
    ({"sources": ["corpora", "web"]}, [], True),
    ({"sources": ["collections", "web"]}, ["Leases"], False),
    ({"collections": ["Manuals"]}, ["Manuals"], False),
)
Two = tuple[OrganisationWithRun, OrganisationWithRun]


@asynccontextmanager
async def open_office(services: Services, two: Two, **access: Any) -> AsyncIterator[ApiClient]:
    """Serve the API to our organisation, which has a lease, a manual and an empty collection."""
    async with serve_api(services, two[0].key) as api:
        for name, text in (("Leases", LEASE), ("Manuals", BOILER), ("Empty", b"")):
            made = (await api.post("/v1/collections", {"name": name, **({"access": access} if access else {})})).json["id"]
            if text:
                await send(api, made, ("text.md", text))
                await settled(api, made)
        yield api


async def suggest(api: ApiClient, question: str, **chosen: Any) -> list[str]:
    found: list[str] = (await api.post("/v1/suggestions", {"question": question, **chosen})).json["collections"]
    return found


async def ask(api: ApiClient, **chosen: Any) -> dict[str, Any]:
    """Ask the question, and return its run."""
    run: dict[str, Any] = (await api.post("/v1/runs", {"question": QUESTION, **chosen})).json
    return run


async def test_what_fits_is_suggested_and_searched(
    services: Services, two: Two, workflows: InMemoryRuns, pool: asyncpg.Pool, owner: OwnerProcess
) -> None:
    async with open_office(services, two) as api:
        assert await suggest(api, QUESTION) == ["Leases"]
        assert await suggest(api, "锅炉多久检修一次？") == ["Manuals"]
        assert await suggest(api, "Why did tariffs fall after 1930?") == []
        assert await suggest(api, QUESTION, collections=[]) == []
        assert await suggest(api, QUESTION, published_from="2020-01-01") == [], "uploads have no date"
        assert (await api.post("/v1/suggestions", {"question": " "})).is_problem(400)

        run = await ask(api)
        assert (run["query"]["collections"], run["query"]["suggested"]) == (["Leases"], True)
        query = workflows.started[-1].query
        assert (len(query.searched), query.tenant, query.searches_corpora) == (1, str(two[0].organisation), True)
        created = json.loads(await pool.fetchval("SELECT payload FROM events WHERE run_id = $1 AND seq = 1", UUID(run["id"])))
        assert (created["collections"], created["corpora"], created["suggested"]) == (["Leases"], True, True)
        await ask(api, beside=["react"])
        assert [request.query.collections for request in workflows.started[-2:]] == [("Leases",)] * 2

        for chosen, collections, corpora in CHOSEN:
            assert (await ask(api, **chosen))["query"]["collections"] == collections
            assert workflows.started[-1].query.searches_corpora is corpora

        os.kill(owner.process.pid, signal.SIGSTOP)
        try:
            run = await ask(api)
        finally:
            os.kill(owner.process.pid, signal.SIGCONT)
        assert (run["status"], run["query"]["collections"]) == ("running", []), "a question is accepted without the index"


async def test_nobody_elses_collection_is_suggested_or_searched(services: Services, two: Two, workflows: InMemoryRuns) -> None:
    async with open_office(services, two), serve_api(services, two[1].key) as theirs:
        assert await suggest(theirs, QUESTION) == []
        made = (await theirs.post("/v1/collections", {"name": "Leases"})).json["id"]
        await send(theirs, made, ("boiler.md", BOILER))
        await settled(theirs, made)
        assert await suggest(theirs, QUESTION) == [], "nor by the name of ours"
        assert (await ask(theirs))["query"]["collections"] == []
        assert (workflows.started[-1].query.searched, workflows.started[-1].query.tenant) == ((), "")


async def test_a_collection_of_some_people_is_searched_only_by_name(
    services: Services, two: Two, pool: asyncpg.Pool, workflows: InMemoryRuns
) -> None:
    async with open_office(services, two, everyone=False) as api:
        assert await suggest(api, QUESTION) == [], "its maker may use it, but everybody reads the report"
        assert (await ask(api, collections=["Leases"]))["query"]["suggested"] is False
        member = await add_member(pool, two[0].organisation, Role.MEMBER)
        async with serve_api(services, member) as colleague:
            assert (await ask(colleague))["query"]["collections"] == []


async def test_a_kind_of_source_that_is_not_set_up_is_refused_with_those_that_are(
    api_urls: tuple[str, str], workflows: InMemoryRuns
) -> None:
    here = frozenset({SourceKind.CORPORA, SourceKind.COLLECTIONS})
    question = {"question": QUESTION, "sources": ["corpora", "web"]}
    async with open_services(*api_urls, workflows, searchable=here) as limited, serve_api(limited) as api:
        schedule = {"name": "Weekly", "run": question, "timing": {"cron": "0 8 * * 1"}}
        for path, body in (("/v1/runs", question), ("/v1/schedules", schedule)):
            refused = await api.post(path, body)
            assert refused.is_problem(400)
            assert refused.json["detail"] == "web: not set up here; `sources` can name corpora, collections"
        assert (await api.post("/v1/runs", question | {"sources": ["corpora"]})).status == 201
    assert len(workflows.started) == 1
