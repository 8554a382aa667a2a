"""What a home holds after some weeks: an organisation of three does all that leaves something in a table or a folder.

Each step is a function; they follow one another. A second organisation is there to be kept apart.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from email.message import EmailMessage
from pathlib import Path
from uuid import UUID, uuid4

import aiohttp

from app.database.tenancy import Tenant, act_for
from app.domain.fleets import FleetQuestion, FleetWish
from app.domain.query import ResearchQuery
from app.settings import Settings
from infra.cli.evaluation_fleet import open_deployment
from tests.app.accounts.identity_provider import FakeIdentityProvider
from tests.infra import api_tour as tour
from tests.support.model_stub import ModelStub

OWNER, MEMBER, BY_PROVIDER, INVITED = (f"{name}@harbour.example" for name in ("owner", "ben", "cleo", "dora"))
QUESTION = "When does the lease of the warehouse end?"
WEB_QUESTION = "What do pilots of the harbour pay?"
COLLECTION, PRIVATE = "Harbour papers", "Minutes of the board"
PAPERS = {
    "lease.md": "# Lease\n\nThe lease of the warehouse ends on 3 May 2031. The rent of the warehouse is 4,000 euros a month.\n",
    "tide.md": "# Tide\n\nThe tide in the harbour rises by four metres. Pilots of the warehouse board at the outer buoy.\n",
}
RENEWED = "# Lease\n\nThe lease of the warehouse ends on 9 June 2044. The rent of the warehouse is 4,000 euros a month.\n"
MINUTES = "# Minutes\n\nThe board of the harbour decided in closed session to let the warehouse lease end.\n"
FOUND_ON_THE_WEB = {
    "results": [
        {"title": "Dues", "url": "https://harbours.example/dues", "content": "Pilots of the harbour pay 90 euros a month."},
        {"title": "Buoys", "url": "https://harbours.example/buoys", "content": "The harbour has had an outer buoy since 1951."},
    ]
}


@dataclass(frozen=True)
class World:
    """The product under way, with those around it."""

    api: str
    settings: Settings
    model: ModelStub
    mails: list[EmailMessage]
    provider: FakeIdentityProvider
    endpoint: str
    folder: Path


async def live_through(world: World) -> None:
    """Do all of it."""
    async with AsyncExitStack() as people:
        owner = await people.enter_async_context(tour.sign_up_customer(world.api, "Harbour"))
        await people.enter_async_context(tour.sign_up_customer(world.api, "Strangers"))
        await confirm_address(world, owner)
        member = await people.enter_async_context(join_by_mail(world, owner))
        await join_by_provider(world, owner)
        await set_limits(world, owner)
        await send_papers(world, owner)
        run, _ = await tour.ask_with_approval(owner, QUESTION, COLLECTION)
        await read_and_judge(owner, member, run)
        await ask_every_week(world, owner, run)
        await ask_the_web(owner)
        await leave_open(world, owner)
        await begin_fleet(world, owner)
        await owner.call("POST", "/v1/password-resets", {"email": owner.email})
        async with aiohttp.ClientSession(world.api) as nobody:
            await nobody.get("/v1/oidc/start", allow_redirects=False)  # and never comes back


async def find_link(world: World, address: str) -> str:
    """Return the token of the newest mail to an address, once there is one."""
    while not (texts := [mail.get_content() for mail in world.mails if mail["To"] == address]):
        await asyncio.sleep(0.1)
    found = re.search(r"[?&]token=([^&\s]+)", texts[-1])
    assert found is not None, texts[-1]
    return found[1]


async def confirm_address(world: World, owner: tour.Customer) -> None:
    """Confirm the owner's address by the mail of the sign-up."""
    await owner.call("POST", "/v1/verifications", {"token": await find_link(world, owner.email)})


@asynccontextmanager
async def join_by_mail(world: World, owner: tour.Customer) -> AsyncIterator[tour.Customer]:
    """Invite two; one of them joins, and is yielded with a session."""
    for email, role in ((MEMBER, "member"), (INVITED, "viewer")):
        await owner.call("POST", "/v1/invitations", {"email": email, "role": role})
    new = {"token": await find_link(world, MEMBER), "name": "Ben", "password": tour.PASSWORD}
    async with aiohttp.ClientSession(world.api) as browser, browser.post("/v1/invitations/accept", json=new) as answer:
        assert answer.status == 200, await answer.text()
        cookie = answer.cookies["rubrica_session"].value  # the cookie is for https, which the loopback does not use
    async with aiohttp.ClientSession(world.api, headers={"Cookie": f"rubrica_session={cookie}"}) as session:
        yield tour.Customer(world.api, session, MEMBER, "", {cookie})


async def join_by_provider(world: World, owner: tour.Customer) -> None:
    """Invite one who has an account with the identity provider, and joins by that."""
    await owner.call("POST", "/v1/invitations", {"email": BY_PROVIDER, "role": "viewer"})
    world.provider.person = {"sub": "cleo", "email": BY_PROVIDER, "email_verified": True, "name": "Cleo"}
    async with aiohttp.ClientSession(world.api) as browser:
        async with browser.get("/v1/oidc/start", allow_redirects=False) as gone:
            query = world.provider.sign_in(gone.headers["Location"])
            kept = "; ".join(f"{name}={cookie.value}" for name, cookie in gone.cookies.items())
        # The cookies are for https, which the loopback does not use.
        async with browser.get("/v1/oidc/callback", params=query, headers={"Cookie": kept}, allow_redirects=False) as back:
            assert back.status == 302, await back.text()
            assert "refused" not in back.headers["Location"], back.headers["Location"]


async def set_limits(world: World, owner: tour.Customer) -> None:
    """Set limits so far away that no test meets them, agree to training, and name an endpoint for messages."""
    await owner.call("PUT", "/v1/quotas", {"tokens_per_month": 10**12})
    await owner.call("PUT", "/v1/retention", {"runs_days": 36_500})
    await owner.call("PUT", "/v1/consent", {"organisation": True, "person": True})
    await owner.call("PUT", "/v1/preferences/default", {"composition": "sections"})
    await owner.call("POST", "/v1/webhooks", {"url": world.endpoint, "events": ["run.completed", "schedule.changed"]})


async def send_papers(world: World, owner: tour.Customer) -> None:
    """Make a collection for everybody and one for the owner alone."""
    for name, access, texts in ((COLLECTION, True, PAPERS), (PRIVATE, False, {"minutes.md": MINUTES})):
        made = await owner.call("POST", "/v1/collections", {"name": name, "access": {"everyone": access}})
        paths = [world.folder / file for file in texts]
        for path in paths:
            path.write_text(texts[path.name])
        await tour.upload(owner, made["id"], paths)


async def read_and_judge(owner: tour.Customer, member: tour.Customer, run: str) -> None:
    """Compare, rewrite, share, rate, flag, ask on, and have another judge the pair."""
    pair = await tour.request_comparison(owner, run)
    await tour.request_rewrite(owner, run)
    await tour.share_report(owner, run)
    await owner.call("POST", f"/v1/runs/{run}/claims/0/flag", {"reason": "it is dated", "version": 1})
    await member.call("POST", f"/v1/runs/{run}/rating", {"stars": 4, "comment": "clear", "version": 1})
    async with tour.make_openai_client(owner) as client:
        await client.responses.create(
            model="minddr-quick", input="What is the rent?", previous_response_id=f"resp_{UUID(run).hex}"
        )
    await owner.call("POST", "/v1/annotations", {"comparison_ids": [pair], "overlap": 2})
    given = (await member.call("GET", "/v1/annotations/next"))["assignment"]
    await member.call("POST", f"/v1/annotations/{given['id']}", {"verdict": "tie", "reasons": []})


async def ask_every_week(world: World, owner: tour.Customer, run: str) -> None:
    """Have the question asked again, before and after the lease changed; then want no more mails."""
    schedule = await tour.schedule_question(owner, run)
    await tour.trigger_schedule(owner, schedule, 0)
    lease = world.folder / "lease.md"
    lease.write_text(RENEWED)
    collection = next(c for c in (await owner.call("GET", "/v1/collections"))["items"] if c["name"] == COLLECTION)
    await tour.upload(owner, collection["id"], [lease])
    asking = await tour.trigger_schedule(owner, schedule, 1)
    assert asking["outcome"] == "changed", asking
    link = next(mail for mail in reversed(world.mails) if mail["List-Unsubscribe"])["List-Unsubscribe"].strip("<>")
    async with aiohttp.ClientSession(world.api) as nobody:
        path = "/" + link.split("/", 3)[3]
        async with nobody.post(path, data={"List-Unsubscribe": "One-Click"}) as answer:
            assert answer.status == 200, await answer.text()


async def ask_the_web(owner: tour.Customer) -> None:
    """Ask under a key for repeating it, and delete the run: what it used stays counted."""
    body = {"question": WEB_QUESTION, "effort": "quick", "sources": ["web"]}
    run = await owner.call("POST", "/v1/runs", body, headers={"Idempotency-Key": "pilots-1"})
    await owner.wait_for(f"/v1/runs/{run['id']}", "status", "completed")
    await owner.call("DELETE", f"/v1/runs/{run['id']}")


async def leave_open(world: World, owner: tour.Customer) -> None:
    """Leave a run whose plan waits for approval, and one that was paused in the middle of its searches, with a note."""
    body = {"question": QUESTION, "effort": "quick", "collections": [COLLECTION, PRIVATE], "sources": ["collections"]}
    waiting = await owner.call("POST", "/v1/runs", body | {"approve_plan": True})
    await owner.wait_for(f"/v1/runs/{waiting['id']}", "status", "awaiting_approval")
    world.model.latency = timedelta(seconds=1)
    paused = await owner.call("POST", "/v1/runs", body)
    path = f"/v1/runs/{paused['id']}"
    while not (await owner.call("GET", path))["usage"]["tool_calls"]:
        await asyncio.sleep(0.1)
    world.model.latency = timedelta(minutes=1)
    await owner.call("POST", f"{path}/notes", {"text": "Mind the rent."})
    await owner.call("POST", f"{path}/pause")
    await owner.wait_for(path, "status", "paused")
    world.model.latency = timedelta(0)


async def begin_fleet(world: World, owner: tour.Customer) -> None:
    """Begin an evaluation over one question, and pause it."""
    organisation = UUID((await owner.call("GET", "/v1/me"))["organisation"]["id"])
    fleet, question = uuid4(), ResearchQuery(question=QUESTION)
    async with open_deployment(world.settings, organisation) as found:
        with act_for(Tenant(organisation)):
            await found.fleets.make(fleet, 1)
            await found.fleets.set_wish(fleet, FleetWish.PAUSE)
            await found.fleets.add(fleet, [FleetQuestion(name="lease", query=question)])
