"""The product starts on a home of each former version and goes on with what is in it: as its people see that, over the API."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from infra.local.home import Home
from tests.infra import api_tour as tour
from tests.infra.test_stack import Up
from tests.migrations.home_tour import COLLECTION, OWNER, QUESTION
from tests.migrations.old_home import lay_out, revisions
from tests.support.model_stub import MODEL, serve_model_stub

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_800)]
# Of the runs that are listed; a comparison's second report is not.
STATUSES = {"completed": 2, "paused": 1, "awaiting_approval": 1}


@pytest.fixture(params=revisions())
async def owner(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tour.Customer]:
    """The owner of the organisation in the home, signed in with the password of that time."""
    home = Home(tmp_path / "home")
    await lay_out(home, request.param)
    async with serve_model_stub() as model:
        up = Up(home.root, RUBRICA_LLM_BASE_URL=model.base_url, RUBRICA_LLM_MODEL=MODEL)
        try:
            await up.ready()
            async with aiohttp.ClientSession(up.state.api, cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
                customer = tour.Customer(up.state.api, session, OWNER, "", set())
                me = await customer.call("POST", "/v1/session", {"email": OWNER, "password": tour.PASSWORD})
                assert (me["organisation"]["name"], me["organisation"]["role"]) == ("Harbour", "owner")
                yield customer
        finally:
            await asyncio.to_thread(up.end, signal.SIGTERM)


async def test_the_product_works_on_it(owner: tour.Customer) -> None:
    """One start, since it takes longest: read what is there, ask the documents, continue what waited, ask again."""
    found = (await owner.call("GET", "/v1/runs?limit=100"))["items"]
    runs = {status: [run["id"] for run in found if run["status"] == status] for status in STATUSES}
    assert {status: len(ids) for status, ids in runs.items()} == STATUSES
    assert {run["query"]["question"] for run in found} == {QUESTION}
    for run in runs["completed"]:
        await read_with_evidence(owner, run)
    await ask_the_documents(owner)
    await continue_paused(owner, runs["paused"][0])
    waiting = runs["awaiting_approval"][0]
    await owner.call("POST", f"/v1/runs/{waiting}/approve")
    await owner.wait_for(f"/v1/runs/{waiting}", "status", "completed")
    await ask_again(owner)


async def read_with_evidence(owner: tour.Customer, run: str) -> None:
    """Read a report, and each quotation in the stored copy of its source, unless the source was replaced since."""
    report = await owner.call("GET", f"/v1/runs/{run}/report")
    evidence = await owner.call("GET", f"/v1/runs/{run}/evidence")
    assert report["markdown"]
    assert evidence["citations"]
    assert await tour.read_events(owner, run, 0)
    opened = 0
    for cited in evidence["citations"]:
        path = f"/v1/snapshots/{cited['source']['snapshot']}"
        if await owner.read_status("GET", path) == 404:
            assert cited["source"]["title"] == "lease.md", "only the lease was replaced"
            continue
        text = (await owner.call("GET", path)).decode()
        assert text[cited["start"] : cited["end"]] == cited["quote"]
        opened += 1
    assert opened


async def ask_the_documents(owner: tour.Customer) -> None:
    """Ask a question that the newest version of a document answers: its index is made again, since there is none."""
    assert {item["name"] for item in (await owner.call("GET", "/v1/collections"))["items"]} >= {COLLECTION}
    body = {"question": QUESTION, "effort": "quick", "collections": [COLLECTION]}
    run = await owner.call("POST", "/v1/runs", body)
    await owner.wait_for(f"/v1/runs/{run['id']}", "status", "completed")
    cited = (await owner.call("GET", f"/v1/runs/{run['id']}/evidence"))["citations"]
    sources = {citation["source"]["snapshot"] for citation in cited}
    texts = [(await owner.call("GET", f"/v1/snapshots/{source}")).decode() for source in sources]
    assert any("9 June 2044" in text for text in texts)


async def continue_paused(owner: tour.Customer, run: str) -> None:
    """Resume the run that was paused in the middle of its searches: what it had paid for is not paid for again."""
    path = f"/v1/runs/{run}"
    before = await owner.call("GET", path)
    stored = await tour.read_events(owner, run, 0, until="paused")
    assert before["usage"]["model_calls"]
    await owner.call("POST", f"{path}/resume")
    after = await owner.wait_for(path, "status", "completed")
    assert after["usage"]["model_calls"] > before["usage"]["model_calls"]
    events = await tour.read_events(owner, run, 0)
    assert events[: len(stored)] == stored
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert sum(event["type"] == "plan_made" for event in events) == 1


async def ask_again(owner: tour.Customer) -> None:
    """Have the schedule ask once more. A change makes it anew in the workflow service, whose state the home is without."""
    (schedule,) = (await owner.call("GET", "/v1/schedules"))["items"]
    path = f"/v1/schedules/{schedule['id']}"
    before = (await owner.call("GET", f"{path}/changes"))["items"]
    await owner.call("PATCH", path, {"name": "Harbour, weekly as ever"})
    asking = await tour.trigger_schedule(owner, schedule["id"], len(before))
    assert asking["outcome"] in ("changed", "unchanged"), asking
    assert (await owner.call("GET", f"{path}/changes"))["items"][1:] == before
