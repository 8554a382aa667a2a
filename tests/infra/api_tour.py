"""The tour of the product over its API, a step a function: from signing up to a weekly question."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp

PASSWORD = "a long enough password of the tour"


@dataclass
class Customer:
    """A customer's program; `secrets` is all that was shown to it once, or that it chose."""

    address: str
    session: aiohttp.ClientSession
    email: str
    key: str
    secrets: set[str]

    async def call(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """Send a request that must succeed; return its answer."""
        async with self.session.request(method, path, json=body, **options) as answer:
            content = await answer.read()
            assert answer.status < 300, (method, path, answer.status, content)
            if answer.content_type != "application/json":
                return content
            return json.loads(content) if content else None

    async def wait_for(self, path: str, field: str, *ends: str) -> dict[str, Any]:
        """Ask again until the field has one of these values."""
        while (found := await self.call("GET", path))[field] not in ends:
            assert found[field] not in ("failed", "cancelled", "same"), found
            await asyncio.sleep(0.2)
        return dict(found)

    async def read_status(self, method: str, path: str) -> int:
        """Return the status of a request that need not succeed."""
        async with self.session.request(method, path, json={} if method != "GET" else None) as answer:
            return answer.status


@asynccontextmanager
async def sign_up_customer(address: str, organisation: str) -> AsyncIterator[Customer]:
    """Sign up an organisation, make a key for its owner, and yield a customer with it."""
    email = f"owner@{organisation.lower()}.example"
    async with aiohttp.ClientSession(address) as browser:
        new = {"organisation": organisation, "email": email, "name": "Ada", "password": PASSWORD}
        async with browser.post("/v1/sign-up", json=new) as answer:
            assert answer.status == 201, await answer.text()
            scopes = (await answer.json())["scopes"]
            cookie = answer.cookies["rubrica_session"].value  # the cookie is for https, which the loopback does not use
        new_key = {"name": "tour", "scopes": scopes}
        async with browser.post("/v1/keys", json=new_key, headers={"Cookie": f"rubrica_session={cookie}"}) as answer:
            assert answer.status == 201, await answer.text()
            key = (await answer.json())["key"]
    fresh = aiohttp.TCPConnector(force_close=True)  # commands in between take longer than a connection is kept
    headers = {"Authorization": f"Bearer {key}"}
    async with aiohttp.ClientSession(address, headers=headers, connector=fresh) as session:
        yield Customer(address, session, email, key, {PASSWORD, key, key.split("_", 2)[2], cookie})


async def upload(customer: Customer, collection: str, files: Iterable[Path]) -> None:
    """Send files and wait until they can be found."""
    form = aiohttp.FormData()
    for path in files:
        form.add_field("file", path.read_bytes(), filename=path.name, content_type="application/pdf")
    async with customer.session.post(f"/v1/collections/{collection}/documents", data=form) as answer:
        assert answer.status < 300, await answer.text()
    while {d["state"] for d in (await customer.call("GET", f"/v1/collections/{collection}/documents"))["items"]} != {"indexed"}:
        await asyncio.sleep(0.2)


async def read_events(customer: Customer, run: str, after: int, until: str = "") -> list[dict[str, Any]]:
    """Return the run's events behind a number, up to a status or the stream's end."""
    found = []
    headers = {"Last-Event-ID": str(after)} if after else {}
    async with customer.session.get(f"/v1/runs/{run}/events", headers=headers) as answer:
        assert answer.status == 200, await answer.text()
        async for line in answer.content:
            if line.startswith(b"data: "):
                found.append(json.loads(line[6:]))
                if until and found[-1]["payload"].get("status") == until:
                    break
    return found


async def ask_with_approval(customer: Customer, question: str, collection: str) -> tuple[str, list[dict[str, Any]]]:
    """Ask with an edited rubric, change the waiting plan, approve it; return the run and all its events."""
    body = {"question": question, "effort": "quick", "collections": [collection], "approve_plan": True}
    price = await customer.call("POST", "/v1/estimates", body)
    assert price["seconds"]["low"] <= price["seconds"]["likely"] <= price["seconds"]["high"]
    drafted = await customer.call("POST", "/v1/rubrics", {"question": question})
    criteria = drafted["rubric"]["criteria"]
    criteria[0] = {"title": "The date", "description": "Key Criterion: Names the day on which the lease ends.", "weight": 5}
    run = await customer.call("POST", "/v1/runs", body | {"rubric": {"draft": drafted["id"], "criteria": criteria}})
    path = f"/v1/runs/{run['id']}"
    seen = await read_events(customer, run["id"], 0, "awaiting_approval")
    async with customer.session.get(f"{path}/plan") as answer:
        plan, tag = await answer.json(), answer.headers["ETag"]
    plan["subtasks"][0]["title"] = "The end of the lease"
    await customer.call("PUT", f"{path}/plan", plan, headers={"If-Match": tag})
    await customer.call("POST", f"{path}/approve")
    seen += await read_events(customer, run["id"], seen[-1]["seq"])
    stored = await customer.call("GET", f"{path}/rubric")
    assert (stored["rubric"]["criteria"][0]["title"], stored["drafted"] is not None) == ("The date", True)
    return run["id"], seen


async def request_rewrite(customer: Customer, run: str) -> dict[str, Any]:
    """Have the newest version's second section written again; return the difference."""
    newest = (await customer.call("GET", f"/v1/runs/{run}/versions"))["items"][0]["n"]
    body, headers = {"how": "rewrite", "wish": "revenue first"}, {"If-Match": f'"{newest}"'}
    change = await customer.call("POST", f"/v1/runs/{run}/sections/1/rewrite", body, headers=headers)
    done = await customer.wait_for(f"/v1/runs/{run}/changes/{change['id']}", "status", "done")
    assert done["version"] == newest + 1
    return dict(await customer.call("GET", f"/v1/runs/{run}/versions/{newest}/diff?with={newest + 1}"))


async def request_comparison(customer: Customer, run: str) -> str:
    """Have a second report written, choose the first, reveal which was which; return the comparison."""
    first = (await customer.call("GET", f"/v1/runs/{run}/report"))["markdown"]
    ways = await customer.call("GET", "/v1/preferences/ways")
    writer = next(way["writer"] for way in ways["items"] if way["name"].endswith("time"))
    made = await customer.call("POST", "/v1/comparisons", {"run_id": run, "writer": writer})
    path = f"/v1/comparisons/{made['id']}"
    pair = await customer.wait_for(path, "status", "ready")
    assert pair["left"]["markdown"] != pair["right"]["markdown"]
    side, other = ("left", "right") if first.endswith(pair["left"]["markdown"].partition("## ")[2]) else ("right", "left")
    reasons = [{"dimension": "usefulness", "side": side}]
    await customer.call("POST", f"{path}/choice", {"verdict": side, "strength": 2, "reasons": reasons})
    revealed = await customer.call("POST", f"{path}/reveal")
    assert (revealed[side]["delivered"], revealed[other]["delivered"]) == (True, False)
    return str(made["id"])


async def share_report(customer: Customer, run: str) -> str:
    """Share the report: a link that needs no key, and says so to caches, frames and search engines."""
    link = await customer.call("POST", f"/v1/runs/{run}/shares", {"days": 7})
    customer.secrets.add(link["token"])
    async with aiohttp.ClientSession(customer.address) as nobody, nobody.get(link["path"]) as page:
        assert page.status == 200
        assert page.headers["X-Robots-Tag"].startswith("noindex")
        assert "default-src 'none'" in page.headers["Content-Security-Policy"]
        return await page.text()


async def export_report(customer: Customer, run: str) -> dict[str, str]:
    """Export the report as PDF and for Word; return the words without white space, as independent readers find them."""
    import docx
    import pypdf

    pdf, word = [await customer.call("GET", f"/v1/runs/{run}/export?format={form}") for form in ("pdf", "docx")]
    texts = {
        "pdf": "".join(page.extract_text() for page in pypdf.PdfReader(BytesIO(pdf)).pages),
        "docx": "".join(block.text for block in docx.Document(BytesIO(word)).paragraphs),
    }
    return {form: "".join(text.split()) for form, text in texts.items()}


async def schedule_question(customer: Customer, run: str) -> str:
    """Ask again every week, by mail and webhook."""
    timing = {"cron": "0 8 * * mon", "time_zone": "Europe/Berlin", "jitter_s": 0}
    body = {"name": "Harbour, weekly", "from_run": run, "timing": timing, "deliver_to": [customer.email]}
    return str((await customer.call("POST", "/v1/schedules", body))["id"])


async def trigger_schedule(customer: Customer, schedule: str, before: int) -> dict[str, Any]:
    """Trigger the schedule; return the new asking, once it has ended and every message about it is sent."""
    await customer.call("POST", f"/v1/schedules/{schedule}/trigger")
    while True:
        askings = (await customer.call("GET", f"/v1/schedules/{schedule}/changes"))["items"]
        sent = (await customer.call("GET", f"/v1/schedules/{schedule}/deliveries"))["items"]
        ended = len(askings) > before and askings[0]["outcome"] != "running"
        if ended and all(delivery["state"] != "waiting" for delivery in sent):
            await asyncio.sleep(1)  # its workflow ends
            return dict(askings[0])
        await asyncio.sleep(0.3)


async def check_nothing_is_visible(stranger: Customer, run: str, *paths: str) -> None:
    """Check that another organisation finds none of this, by any address or list."""
    own = f"/v1/runs/{run}"
    parts = ("", "/report", "/evidence", "/events", "/plan", "/rubric", "/scorecard", "/versions", "/export?format=md", "/tape")
    for path in [*(own + part for part in parts), f"/openai/v1/responses/resp_{run.replace('-', '')}", *paths]:
        assert await stranger.read_status("GET", path) == 404, path
    for path in ("/cancel", "/shares", "/questions", "/sections/0/rewrite"):
        assert await stranger.read_status("POST", own + path) in (400, 404), path
    for kind in ("runs", "collections", "comparisons", "schedules", "webhooks"):
        listed = json.dumps(await stranger.call("GET", f"/v1/{kind}?limit=100"))
        assert not any(id_ in listed for id_ in (run, *(path.split("/")[3] for path in paths))), kind


async def ask_by_openai(customer: Customer, question: str) -> str:
    """Ask with OpenAI's client: in the background with a stream that breaks, and by Chat Completions; return the first run."""
    async with make_openai_client(customer) as client:
        assert "minddr-quick" in {model.id async for model in await client.models.list()}
        stream = await client.responses.create(model="minddr-quick", input=question, background=True, stream=True)
        seen = [event async for event in _take_first(stream, 4)]
        await stream.close()
        id_ = seen[0].response.id
        rest = await client.responses.retrieve(id_, stream=True, starting_after=seen[-1].sequence_number)
        seen += [event async for event in rest]
        assert [event.sequence_number for event in seen] == list(range(len(seen)))
        assert seen[-1].type == "response.completed"
        await read_citations(client, id_)
        chat = await client.chat.completions.create(model="minddr-quick", messages=[{"role": "user", "content": question}])
        assert "[1]" in (chat.choices[0].message.content or "")
    assert len((await customer.call("GET", "/v1/runs"))["items"]) == 2
    return str(UUID(id_.removeprefix("resp_")))


async def read_citations(client: Any, id_: str) -> dict[str, str]:
    """Return a finished response's sources by the mark that stands for each, from its annotations."""
    done = await client.responses.retrieve(id_)
    assert done.status == "completed"
    text = done.output[-1].content[0]
    marks = {text.text[cited.start_index : cited.end_index]: cited.title for cited in text.annotations}
    assert "[1]" in marks
    return marks


def make_openai_client(customer: Customer) -> Any:
    """Make OpenAI's client with the customer's key."""
    import openai

    return openai.AsyncOpenAI(base_url=f"{customer.address}/openai/v1", api_key=customer.key, max_retries=0)


async def _take_first(stream: Any, count: int) -> AsyncIterator[Any]:
    for _ in range(count):
        yield await anext(stream)


def find_logged_secrets(home: Path, secrets: Iterable[str]) -> set[str]:
    """Return the secrets that stand in any log of a stack's home."""
    logs = {path.name: path.read_bytes() for path in (home / "logs").iterdir() if path.is_file()}
    assert logs.keys() >= {"api.log", "worker.log", "retrieval.log", "postgres.log", "temporal.log"}
    text = b"".join(logs.values())
    assert len(text) > 1_000
    return {secret for secret in secrets if secret.encode() in text}
