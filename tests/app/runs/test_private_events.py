"""What a watcher is told of a run on a private collection, while it goes on."""

import asyncio
from uuid import UUID

import asyncpg

from app.collections.nouns import Access
from app.database.tenancy import act_for
from app.domain.query import ResearchQuery
from app.domain.run import EventType, RunStatus
from app.http.services import Services
from app.runs.storage.run_log import RunLog
from bench.private_house import WITHDRAW, add_people
from tests.app.served_api import ApiClient

CALL = {
    "tool": "search",
    "query": "what the drawer says",
    "results": 3,
    "sources": [{"title": "ledger.txt", "url": "u"}],
    "error": "",
}


async def test_a_watcher_whose_access_is_withdrawn_is_told_no_more_words_of_it(
    services: Services, api: ApiClient, pool: asyncpg.Pool, run_log: RunLog
) -> None:
    people = await add_people(pool)
    with act_for(people["maker"].tenant):
        access = Access(everyone=False, users=(people["shared with"].user,))
        collection = (await services.collections.create("Drawer", access)).id
        run = (await services.runs.create(ResearchQuery(question="Which cargo?", collections=("Drawer",)))).id
    await run_log.append_event(run, EventType.TOOL_CALL, "search/s1", CALL)
    told: asyncio.Queue[object] = asyncio.Queue()
    watching = asyncio.create_task(watch(api, str(run), people["shared with"].headers, told))
    assert await told.get() == CALL
    await pool.execute(WITHDRAW, collection, list[UUID]())
    await run_log.append_event(run, EventType.TOOL_CALL, "search/s1", CALL)
    assert await told.get() == {"tool": "search", "results": 3}
    await pool.execute(WITHDRAW, collection, [people["shared with"].user])
    await run_log.append_event(run, EventType.TOOL_CALL, "search/s1", CALL)
    assert await told.get() == CALL
    await run_log.set_status(run, RunStatus.COMPLETED)
    await watching


async def watch(api: ApiClient, run: str, headers: dict[str, str], told: asyncio.Queue[object]) -> None:
    async for event in api.events(run, headers=headers):
        if event["type"] == "tool_call":
            told.put_nowait(event["payload"])
