"""Work in the background leaves places to people."""

from collections.abc import Iterator
from uuid import UUID

import asyncpg
import pytest

from app.database.tenancy import Tenant
from app.domain.errors import TooManyRequests
from app.domain.limits import Quota
from app.quotas.service import admit_run
from app.schedules.storage import living_runs
from app.schedules.storage.living_runs import Owner
from tests.app.conftest import NewBrowser


@pytest.mark.parametrize(("places", "left"), [(0, 0), (1, 1), (2, 1), (4, 3), (5, 3), (10, 7)])
async def test_a_quarter_of_the_places_is_left_to_people(
    new_browser: NewBrowser, addresses: Iterator[str], pool: asyncpg.Pool, places: int, left: int
) -> None:
    owner = await new_browser()
    me = await owner.sign_up(next(addresses))
    who = Tenant(UUID(me["organisation"]["id"]), UUID(me["user_id"]))
    assert (await owner.put("/v1/quotas", {"concurrent_runs": places})).status == 200

    async def ask(background: bool) -> None:
        async with pool.acquire() as connection, connection.transaction():
            await living_runs.act_for(connection, Owner(who.organisation, who.user))
            await admit_run(connection, who, Quota(), background=background)

    for _ in range(left):
        await ask(background=True)
        await owner.ask("One more?")
    with pytest.raises(TooManyRequests, match=f"{left} of the {left} runs"):
        await ask(background=True)
    if left < places:
        await ask(background=False)
