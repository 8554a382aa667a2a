"""Comparing, rating and annotating through the client, against the real API."""

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

import asyncpg
import pytest

from app.database.engine import connect
from app.domain.writer import ReportLineage
from app.http.services import open_services
from app.runs.storage.run_log import RunLog
from rubrica_client import ApiError, Client, preferences
from rubrica_client.models import ChoiceReason, ChoiceVerdict, Dimension, NewChoice, NewFlag, NewRating, ShownSide
from rubrica_client.request import Request
from tests.app.annotators import find_made_run, finish_run, make_finished_run, make_report
from tests.app.served_api import InMemoryRuns, serve_api
from tests.support.accounts import HOME_HEADERS

T = TypeVar("T")
FIRST, SECOND = "Duties protect labour at home.", "Duties raise what people pay."


@pytest.fixture
async def pool(postgres_url: str) -> AsyncIterator[asyncpg.Pool]:
    opened = await connect(postgres_url)
    yield opened
    await opened.close()


@pytest.fixture
async def api(api_urls: tuple[str, str], pool: asyncpg.Pool) -> AsyncIterator[Client]:
    async with open_services(*api_urls, InMemoryRuns(RunLog(pool))) as services, serve_api(services) as served:
        yield Client(served.address, headers=HOME_HEADERS, trust_env=False)


async def sent(api: Client, request: Request[T]) -> T:
    return await asyncio.to_thread(api.send, request)


async def test_compare_choose_reveal_rate_flag_and_agree(api: Client, pool: asyncpg.Pool) -> None:
    run_id = str(await make_finished_run(pool, make_report(FIRST), ReportLineage()))
    way = (await sent(api, preferences.ways())).items[0]
    made = await sent(api, preferences.compare(run_id, way.writer))
    assert (made.status, made.left) == ("preparing", None)
    await finish_run(
        pool, await find_made_run(pool, made.id), make_report(SECOND), ReportLineage(agents="brief", arrangement="automatic")
    )
    seen = await sent(api, preferences.comparison(made.id))
    assert seen.left is not None
    assert seen.right is not None
    assert {text in seen.left.markdown + seen.right.markdown for text in (FIRST, SECOND)} == {True}
    assert (seen.left.citations[0].n, seen.left.claims[0].support) == (1, "full")
    with pytest.raises(ApiError, match="choose first"):
        await sent(api, preferences.reveal(made.id))
    reasons = [ChoiceReason(dimension=Dimension.ALIGNMENT, side=ShownSide.LEFT)]
    said = NewChoice(verdict=ChoiceVerdict.LEFT, strength=2, reasons=reasons, hidden_seconds=0.0)
    chosen = await sent(api, preferences.choose(made.id, said))
    assert (chosen.verdict, chosen.reasons[0].dimension) == ("left", "alignment")
    revealed = await sent(api, preferences.reveal(made.id))
    assert revealed.left.delivered is (FIRST in seen.left.markdown)
    assert [item.chosen for item in (await sent(api, preferences.comparisons(run_id))).items] == [True]
    assert (await sent(api, preferences.next_assignment())).assignment is None

    assert (await sent(api, preferences.rate(run_id, NewRating(stars=4, version=1)))).stars == 4
    assert (await sent(api, preferences.flag(run_id, 0, NewFlag(reason="dated", version=1)))).text == FIRST
    assert [flag.reason for flag in (await sent(api, preferences.flags(run_id))).items] == ["dated"]
    await sent(api, preferences.unflag(run_id, 0))
    assert (await sent(api, preferences.flags(run_id))).items == []
    assert (await sent(api, preferences.consent())).given is False
    assert (await sent(api, preferences.set_consent(person=True, organisation=True))).given is True
