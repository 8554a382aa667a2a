"""The page's client of preferences against the real API, so that neither drifts from the other."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

import asyncpg
import pytest

from app.database.engine import connect
from app.domain.writer import ReportLineage
from app.http.services import open_services
from app.runs.storage.run_log import RunLog
from tests.app.judging import finish, finished_run, made_run, report
from tests.app.support import InMemoryRuns, serving
from tests.support.accounts import HOME_HEADERS
from ui.api_client import ApiClient, ApiProblem
from ui.client import preferences

T = TypeVar("T")
FIRST, SECOND = "Duties protect labour at home.", "Duties raise what people pay."


@pytest.fixture
async def pool(postgres_url: str) -> AsyncIterator[asyncpg.Pool]:
    opened = await connect(postgres_url)
    yield opened
    await opened.close()


@pytest.fixture
async def api(api_urls: tuple[str, str], pool: asyncpg.Pool) -> AsyncIterator[ApiClient]:
    async with open_services(*api_urls, InMemoryRuns(RunLog(pool))) as services, serving(services) as served:
        yield ApiClient(served.address, HOME_HEADERS)


async def of(work: Callable[..., T], *arguments: object, **named: object) -> T:
    return await asyncio.to_thread(work, *arguments, **named)


async def test_compare_choose_reveal_rate_flag_and_agree(api: ApiClient, pool: asyncpg.Pool) -> None:
    run_id = str(await finished_run(pool, report(FIRST), ReportLineage()))
    way = (await of(preferences.ways, api))[0]
    made = await of(preferences.compare, api, run_id, way.writer)
    assert (made.status, made.left) == ("preparing", None)
    await finish(pool, await made_run(pool, made.id), report(SECOND), ReportLineage(agents="extractive", arrangement="automatic"))
    seen = await of(preferences.comparison, api, made.id)
    assert seen.left is not None
    assert seen.right is not None
    assert {text in seen.left.markdown + seen.right.markdown for text in (FIRST, SECOND)} == {True}
    assert (seen.left.citations[0].n, seen.left.claims[0].support) == (1, "full")
    with pytest.raises(ApiProblem, match="choose first"):
        await of(preferences.reveal, api, made.id)
    said = {"verdict": "left", "strength": 2, "reasons": [{"dimension": "alignment", "side": "left"}], "hidden_seconds": 0.0}
    chosen = await of(preferences.choose, api, made.id, said)
    assert (chosen.verdict, chosen.reasons[0].dimension) == ("left", "alignment")
    revealed = await of(preferences.reveal, api, made.id)
    assert revealed.left.delivered is (FIRST in seen.left.markdown)
    assert [item.chosen for item in (await of(preferences.comparisons, api, run_id)).items] == [True]
    assert await of(preferences.next_assignment, api) is None

    assert (await of(preferences.rate, api, run_id, 4)).stars == 4
    assert (await of(preferences.flag, api, run_id, 0, "dated")).text == FIRST
    assert [flag.reason for flag in await of(preferences.flags, api, run_id)] == ["dated"]
    await of(preferences.unflag, api, run_id, 0)
    assert await of(preferences.flags, api, run_id) == ()
    assert (await of(preferences.consent, api)).given is False
    assert (await of(preferences.set_consent, api, person=True, organisation=True)).given is True
