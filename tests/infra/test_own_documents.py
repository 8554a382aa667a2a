"""The product on the real stack, with own documents: the whole tour over the API, and three PDFs up to their end."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import aiohttp
import pytest
from aiosmtpd.controller import Controller
from standardwebhooks import Webhook

from retrieval.service.client import IndexClient
from tests.app.webhook_receiver import serve_receiver
from tests.infra import api_tour as tour
from tests.infra import harbour
from tests.infra.harbour import ABROAD, LEDGER, MARKER, PAGES, PROVIDER_SECRETS, QUESTION
from tests.infra.leak_search import find_files_with, find_tables_with, forge_question, read_logged_queries
from tests.infra.test_stack import Up
from tests.retrieval.corpora.test_folder_corpus import write_pdf
from tests.support.stack import run_rubrica


@pytest.fixture(scope="module")
def letterbox() -> Iterator[Controller]:
    with harbour.serve_letterbox() as opened:
        yield opened


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory, letterbox: Controller) -> Iterator[Up]:
    with harbour.start_product(tmp_path_factory.mktemp("own documents"), letterbox) as started:
        yield started


@asynccontextmanager
async def client(up: Up, key: str) -> AsyncIterator[aiohttp.ClientSession]:
    fresh = aiohttp.TCPConnector(force_close=True)  # commands in between take longer than a connection is kept
    async with aiohttp.ClientSession(up.state.api, headers={"Authorization": f"Bearer {key}"}, connector=fresh) as session:
        yield session


async def call(session: aiohttp.ClientSession, method: str, path: str, body: Any = None) -> Any:
    async with session.request(method, path, json=body) as answer:
        content = await answer.read()
        assert answer.status < 300, content
        return json.loads(content) if content else None


async def report_on(session: aiohttp.ClientSession, question: str, *collections: str) -> tuple[UUID, dict[str, Any]]:
    """Ask, wait, read."""
    body = {"question": question, "effort": "quick", "collections": list(collections)}
    run = (await call(session, "POST", "/v1/runs", body))["id"]
    while (found := await call(session, "GET", f"/v1/runs/{run}"))["status"] != "completed":
        assert found["status"] in ("queued", "running"), found
        await asyncio.sleep(0.3)
    return UUID(run), await call(session, "GET", f"/v1/runs/{run}/report")


def rubrica(up: Up, *arguments: str) -> str:
    done = run_rubrica(up.home.root, "collections", *arguments, folder=up.home.root.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def words(text: str) -> str:
    """Without white space, as texts out of PDFs are compared."""
    return "".join(text.split())


async def test_the_tour_over_the_api(up: Up, letterbox: Controller) -> None:
    """Sign up, send three PDFs, ask, approve, watch, read, open, rewrite, compare, share, export, ask again every week."""
    folder, mails = up.home.root.parent, letterbox.handler.mails
    async with (
        serve_receiver() as endpoint,
        tour.sign_up_customer(up.state.api, "Harbour") as ours,
        tour.sign_up_customer(up.state.api, "Strangers") as theirs,
    ):
        abroad = asyncio.create_task(abroad_at_once(theirs))
        made = await ours.call("POST", "/v1/collections", {"name": "Harbour papers"})
        await tour.upload(ours, made["id"], [folder / name for name in ("lease.pdf", "budget.pdf", "tide.pdf")])
        await encoded(up, made["id"])
        wanted = {"url": f"{endpoint.url}/hook", "events": ["run.completed", "schedule.changed"]}
        hook = await ours.call("POST", "/v1/webhooks", wanted)
        ours.secrets.add(hook["secret"])

        run, seen = await tour.ask_with_approval(ours, QUESTION, "Harbour papers")
        assert [event["seq"] for event in seen] == list(range(1, len(seen) + 1))
        assert {"plan_made", "plan_revised", "stage_finished", "report_ready"} <= {event["type"] for event in seen}
        assert "The end of the lease" in {event["payload"].get("title") for event in seen}
        assert seen[-1]["payload"]["status"] == "completed"
        report = await ours.call("GET", f"/v1/runs/{run}/report")
        lease = next(cited for cited in report["citations"] if "3 May 2031" in cited["quote"])
        snapshot = f"/v1/snapshots/{lease['source']['snapshot']}"
        text = (await ours.call("GET", snapshot)).decode()
        assert text[lease["start"] : lease["end"]] == lease["quote"]
        card = await ours.call("GET", f"/v1/runs/{run}/scorecard")
        assert card["items"][0]["criterion"]["title"] == "The date"

        assert words(lease["quote"]) in words(await tour.share_report(ours, run))
        for form, printed in (await tour.export_report(ours, run)).items():
            assert words(lease["quote"]) in printed, form

        await address_confirmed(ours, mails)
        schedule = await tour.schedule_question(ours, run)
        same = await tour.trigger_schedule(ours, schedule, 0)
        assert (same["outcome"], same["run_id"], same["detail"]) == ("unchanged", None, "")
        assert same["repeated_calls"] >= 1
        assert not any(same["changes"].values())
        write_pdf(folder / "lease.pdf", [PAGES["lease.pdf"].replace("3 May 2031", "9 June 2044")])
        await tour.upload(ours, made["id"], [folder / "lease.pdf"])
        other = await tour.trigger_schedule(ours, schedule, 1)
        await changed_and_told(ours, other, mails)
        told = [Webhook(hook["secret"]).verify(message.body, message.headers) for message in await endpoint.wait_for(3)]
        happened = {(message["type"], message["data"]["run_id"]) for message in told}
        again = other["run_id"]
        assert happened == {("run.completed", run), ("run.completed", again), ("schedule.changed", again)}

        async with tour.make_openai_client(ours) as client:
            assert "lease.pdf" in (await tour.read_citations(client, f"resp_{run.replace('-', '')}")).values()
        their_run, pair = await abroad
        await tour.check_nothing_is_visible(ours, their_run, f"/v1/comparisons/{pair}")
        things = {"collections": made["id"], "schedules": schedule, "webhooks": hook["webhook"]["id"]}
        paths = (f"/v1/{kind}/{id_}" + "/deliveries" * (kind == "webhooks") for kind, id_ in things.items())
        await tour.check_nothing_is_visible(theirs, run, snapshot, *paths)
        await unsubscribed(up, mails[-1])
        await ours.call("DELETE", f"/v1/schedules/{schedule}")
        secrets = ours.secrets | theirs.secrets | PROVIDER_SECRETS
    assert not tour.find_logged_secrets(up.home.root, secrets)
    assert not any(secret in up.output.read_text() for secret in secrets)


async def encoded(up: Up, collection: str) -> None:
    """A search before and one after the vectors find different passages, and a schedule would ask again."""
    async with IndexClient(up.state.retrieval or "") as index:
        while (await index.read_progress(f"own-{UUID(collection).hex}"))["building"]:
            await asyncio.sleep(0.2)


async def abroad_at_once(theirs: tour.Customer) -> tuple[str, str]:
    """Another organisation: ask as OpenAI's clients do, compare the report with a second, change it. The run and the pair."""
    run = await tour.ask_by_openai(theirs, ABROAD)
    pair = await tour.request_comparison(theirs, run)
    assert any(section["words"] for section in (await tour.request_rewrite(theirs, run))["sections"])
    return run, pair


async def address_confirmed(ours: tour.Customer, mails: list[EmailMessage]) -> None:
    """By the link in the mail that each of the two customers gets; a schedule mails confirmed addresses only."""
    while len(mails) < 2:
        await asyncio.sleep(0.1)
    text = next(mail.get_content() for mail in mails if mail["To"] == ours.email)
    (token,) = re.findall(r"[?&]token=([^&\s]+)", text)
    await ours.call("POST", "/v1/verifications", {"token": token})
    mails.clear()


async def changed_and_told(ours: tour.Customer, asking: dict[str, Any], mails: list[EmailMessage]) -> None:
    """The asking found that the lease ends later, and nothing else; the mail says so."""
    assert asking["outcome"] == "changed", asking
    (fallen,) = asking["changes"]["fallen"]
    assert "3 May 2031" in fallen["before"][0]["text"]
    assert "9 June 2044" in fallen["after"][0]["text"]
    assert not asking["changes"]["passages"], "what changed is told once"
    report = await ours.call("GET", f"/v1/runs/{asking['run_id']}/report")
    assert "2044" in report["markdown"]
    assert "2031" not in report["markdown"]
    (mail,) = mails
    text = mail.get_body(("plain",)).get_content()
    assert (mail["To"], "2031" in text, "2044" in text) == (ours.email, True, True)


async def unsubscribed(up: Up, mail: EmailMessage) -> None:
    """By the mail's link, with a look and a click."""
    link = urlsplit(mail["List-Unsubscribe"].strip("<>"))
    async with aiohttp.ClientSession(up.state.api) as nobody:
        async with nobody.get(link.path) as answer:
            assert (answer.status, "Harbour, weekly" in await answer.text()) == (200, True)
        async with nobody.post(link.path, data={"List-Unsubscribe": "One-Click"}) as answer:
            assert answer.status == 200


def test_what_is_removed_where_nothing_runs_is_gone_when_the_command_ends(tmp_path: Path) -> None:
    home, lease = tmp_path / "home", "The lease of the quay ends with the year 2031."
    for name, words in (("ledger.md", MARKER), ("lease.md", lease)):
        (tmp_path / name).write_text(f"# Papers\n\n{words}\n")

    def collections(*arguments: str) -> str:
        done = run_rubrica(home, "collections", *arguments, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    collections("create", "Papers")
    assert collections("upload", "Papers", "ledger.md", "lease.md").count("indexed") == 2
    assert find_files_with(home, MARKER)
    collections("remove", "Papers", "ledger.md", "--yes")
    assert not find_files_with(home, MARKER)
    assert find_files_with(home, lease)
    collections("remove", "Papers", "--yes")
    assert not find_files_with(home, lease)
    assert "Papers" not in collections("list")


async def test_three_pdfs_are_asked_cited_opened_kept_from_others_and_deleted_for_good(up: Up) -> None:
    for name, page in PAGES.items():
        write_pdf(up.home.root.parent / name, [page])
    rubrica(up, "create", "Harbour papers")
    told = rubrica(up, "upload", "Harbour papers", "lease.pdf", "budget.pdf", "ledger.pdf")
    assert told.count("indexed") == 3
    async with client(up, str(up.home.ensure_api_key())) as ours, tour.sign_up_customer(up.state.api, "Foreigners") as foreigners:
        theirs = foreigners.session
        _, report = await report_on(ours, QUESTION, "Harbour papers")
        cited = {citation["source"]["title"]: citation for citation in report["citations"]}
        assert "lease.pdf" in cited
        lease = cited["lease.pdf"]
        async with ours.get(f"/v1/snapshots/{lease['source']['snapshot']}") as answer:
            text = await answer.text()
        assert text[lease["start"] : lease["end"]] == lease["quote"]
        assert "3 May 2031" in text

        # Through the worker, too, the name is nobody's to a stranger, and so is the index's own name for it.
        collection = (await call(ours, "GET", "/v1/collections"))["items"][0]["id"]
        foreign, _ = await report_on(theirs, LEDGER, "Harbour papers", "sotu")
        async with theirs.get(f"/v1/snapshots/{lease['source']['snapshot']}") as answer:
            assert answer.status == 404
        index = f"own-{UUID(collection).hex}"
        forged = await forge_question(up, foreign, index)
        assert MARKER not in json.dumps(forged)
        assert "no collection" in json.dumps(forged)

        ledger_run, ledger = await report_on(ours, LEDGER, "Harbour papers")
        assert MARKER in ledger["markdown"]
        snapshot = next(c["source"]["snapshot"] for c in ledger["citations"] if c["source"]["title"] == "ledger.pdf")
        asked = await call(ours, "POST", f"/v1/runs/{ledger_run}/questions", {"question": "Who sealed the ledger with wax?"})
        answered = f"/v1/runs/{ledger_run}/questions/{asked['id']}"
        while (answer := await call(ours, "GET", answered))["status"] == "queued":
            await asyncio.sleep(0.1)
        assert MARKER in answer["markdown"]
        kept = {"turns", "tool_calls", "stages", "snapshots", "reports", "report_tasks"}
        assert kept <= await find_tables_with(up, MARKER)
        assert await read_logged_queries(up, ledger_run)
        assert {"text", "snapshots"} <= find_files_with(up.home.root, MARKER)

        rubrica(up, "remove", "Harbour papers", "ledger.pdf", "--yes")
        while "ledger.pdf" in rubrica(up, "documents", "Harbour papers"):
            await asyncio.sleep(0.5)
        printed = {"reports", "report_versions"}  # what a report prints is the report's
        assert await find_tables_with(up, MARKER) <= printed
        assert await find_tables_with(up, snapshot) <= printed
        assert not find_files_with(up.home.root, MARKER)
        assert not await read_logged_queries(up, ledger_run)  # agents put what they read into what they search for next
        gone = await call(ours, "GET", answered)
        assert (gone["status"], gone["markdown"], gone["citations"]) == ("failed", "", [])
        assert "deleted" in gone["detail"]
        async with ours.get(f"/v1/snapshots/{snapshot}") as answer:
            assert answer.status == 404
        assert (await call(ours, "GET", f"/v1/runs/{ledger_run}/report"))["markdown"] == ledger["markdown"]
        _, after = await report_on(ours, LEDGER, "Harbour papers")
        assert MARKER not in after["markdown"]
        async with ours.get(f"/v1/snapshots/{lease['source']['snapshot']}") as answer:
            assert answer.status == 200  # the others stay
