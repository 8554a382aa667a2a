"""Versions, disagreements, figures and links of a finished report, over a real socket."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from app.domain.budget import Usage
from app.domain.citations import marker_of
from app.domain.claims import Claim, Support
from app.domain.errors import Unavailable
from app.domain.evidence import SourceConflict
from app.domain.report import Report, Section
from app.domain.revision import FollowUp, TaskStatus
from app.domain.run import RunStatus
from app.reports.rendering import render
from app.reports.service.revisions import ReportRevisions
from app.reports.storage import report_tasks
from app.runs.service.runs import Runs
from app.runs.storage import runs
from app.runs.storage.run_log import RunLog
from rubrica_client import ApiError, AsyncClient, reports
from rubrica_client.patience import NONE
from tests.app.exports.example_reports import make_quote
from tests.app.served_api import ApiClient, InMemoryRuns
from tests.support.accounts import HOME_KEY

CITY = [
    f"In {year} the population of the city was {value} people." for year, value in ((1890, "1.2 million"), (1900, "1,500,000"))
]
QUOTES = [
    make_quote(text, f"https://example.org/{n}")
    for n, text in enumerate([*CITY, "The population of the city was 2 million people in 1910."])
]
ODD = make_quote(
    "Nobody counted before 1950; exports rose 12% in 1920 and 5% in 1930.", "https://example.org/odd", title="<script>x</script>"
)
SECRET = "the-secret-of-the-run"


@pytest.fixture
async def run(api: ApiClient, run_log: RunLog, pool: asyncpg.Pool) -> str:
    """A finished run about a city."""
    run_id = UUID(await api.ask(f"How large was it? {SECRET}", language="en"))
    body = " ".join(f"Claim {n} {marker_of(q)}." for n, q in enumerate([*QUOTES, ODD]))
    against = Claim(text="Claim 3", section=0, start=0, end=7, quote_keys=(ODD.key,), support=Support.CONTRADICTED, reason="no")
    report = Report(
        title="The city",
        sections=(Section(heading="Growth", body=body), Section(heading="More", body="Nothing.")),
        quotes=(*QUOTES, ODD),
        conflicts=(SourceConflict(about="when counting began", quote_keys=(QUOTES[0].key, ODD.key)),),
        claims=(against,),
    )
    stored = await runs.get(pool, run_id)
    assert stored is not None
    made = render(report, stored)
    await run_log.save_report(run_id, report, made.renderings, made.evidence, made.told)
    await run_log.set_status(run_id, RunStatus.COMPLETED)
    return str(run_id)


async def test_changes_begin_with_the_version_the_reader_saw(api: ApiClient, run: str, workflows: InMemoryRuns) -> None:
    version = await api.get(f"/v1/runs/{run}/versions/1")
    assert (version.headers["ETag"], version.json["info"]["origin"]) == ('"1"', "delivered")
    assert version.json["sections"][0]["markdown"].startswith("Claim 0 [1]. Claim 1 [2].")
    wanted = {"heading": "Growth", "markdown": "It grew [2]."}
    for wrong, status in (('"2"', 409), ("newest", 400)):
        assert (await api.send("PUT", f"/v1/runs/{run}/sections/0", json=wanted, headers={"If-Match": wrong})).is_problem(status)
    edit = await api.send("PUT", f"/v1/runs/{run}/sections/0", json=wanted, headers={"If-Match": '"1"'})
    assert (edit.status, edit.json["status"], edit.json["how"]) == (202, "queued", "edit")
    assert [task for _, task in workflows.tasks] == [UUID(edit.json["id"])]
    assert (await api.get(edit.headers["Location"])).json == edit.json
    again = await api.post(f"/v1/runs/{run}/sections/1/rewrite", {"how": "deepen", "wish": "more"})
    assert again.is_problem(409)
    assert "another change" in again.json["detail"]
    for k, bad in ((0, {"markdown": "Made up [9]."}), (0, {"markdown": "# A heading"}), (0, {"markdown": "x" * 60_001})):
        assert (await api.send("PUT", f"/v1/runs/{run}/sections/{k}", json=bad)).is_problem(400)
    assert (await api.send("PUT", f"/v1/runs/{run}/sections/7", json=wanted)).is_problem(404)
    assert (await api.get(f"/v1/runs/{run}/versions/2")).is_problem(404)
    huge = 10**12
    for path in (f"versions/{huge}", "versions/0", f"versions/1/diff?with={huge}", f"versions?before={huge}"):
        assert (await api.get(f"/v1/runs/{run}/{path}")).is_problem(400), path
    assert (await api.get(f"/v1/runs/{run}/export?format=md&version={huge}")).is_problem(400)
    for k in (-1, huge):
        assert (await api.send("PUT", f"/v1/runs/{run}/sections/{k}", json=wanted)).status in (400, 404), k
    unfinished = await api.ask()
    assert (await api.post(f"/v1/runs/{unfinished}/sections/0/rewrite", {})).is_problem(409)


async def test_a_task_waits_for_the_workflow_service(
    api: ApiClient, run: str, workflows: InMemoryRuns, pool: asyncpg.Pool
) -> None:
    for empty in ("", " ?! ", "x" * 2_001):
        assert (await api.post(f"/v1/runs/{run}/questions", {"question": empty})).is_problem(400)
    workflows.away = True
    asked = await api.post(f"/v1/runs/{run}/questions", {"question": "How many in 1900?"})
    assert (asked.status, asked.json["status"], asked.json["answered"]) == (202, "queued", None)
    assert (await api.get(f"/v1/runs/{run}/questions")).json["items"] == [asked.json]
    await pool.execute("UPDATE report_tasks SET created_at = now() - interval '1 hour'")
    waiting = ReportRevisions(pool, workflows, Runs(pool, workflows))
    with pytest.raises(Unavailable):
        await waiting.dispatch()
    workflows.away = False
    begun = [await waiting.dispatch(), await waiting.dispatch()]
    assert UUID(asked.json["id"]) in {task for _, task in workflows.tasks}
    assert begun[1] == 0, "what is under way is not started over and over"


async def test_an_answer_has_its_claims_as_a_report_has(api: ApiClient, run: str, pool: asyncpg.Pool) -> None:
    asked = await api.post(f"/v1/runs/{run}/questions", {"question": "What was a tax?"})
    quote = make_quote("A tax is a burden.", "https://example.org/tax")
    claim = Claim(
        section=0,
        start=0,
        end=23,
        text="It was called a burden.",
        quote_keys=(quote.key,),
        support=Support.PARTIAL,
        reason="by one of them",
    )
    told = FollowUp(body=f"It was called a burden [[{quote.key}]].", quotes=(quote,), claims=(claim,))
    await report_tasks.finish(pool, UUID(run), UUID(asked.json["id"]), TaskStatus.DONE, answer=told, usage=Usage())
    (answer,) = (await api.get(f"/v1/runs/{run}/questions")).json["items"]
    (found,) = answer["claims"]
    assert (found["text"], found["citations"], found["support"]) == ("It was called a burden.", [1], "partial")
    assert found["reason"] == "by one of them"


async def test_the_client_reverts_compares_and_reads_tables(api: ApiClient, run: str, page: AsyncClient) -> None:
    back = await page.send(reports.revert(run, 1, 1))
    assert (back.n, back.origin, back.based_on) == (2, "reverted", 1)
    with pytest.raises(ApiError, match="newest is 2"):
        await page.send(reports.revert(run, 1, 1))
    assert [v.n for v in (await page.send(reports.versions(run))).items] == [2, 1]
    diff = await page.send(reports.diff(run, 1, 2))
    assert {section.change for section in diff.sections} == {"same"}
    report = await api.get(f"/v1/runs/{run}/report")
    assert (report.json["version"], report.headers["ETag"]) == (2, '"2"')
    assert b"The city" in await page.send(reports.export(run, "md", 1))

    told = (await page.send(reports.contradictions(run))).items
    assert [(row.kind, [side.n for side in row.sides]) for row in told] == [("sources", [1, 4]), ("claim", [4])]

    figures = await page.send(reports.figures(run))
    assert [(f.year, f.n) for f in figures.items[:3]] == [(1890, 1), (1900, 2), (1910, 3)]
    shown = (await api.get(f"/v1/runs/{run}/figures")).json["items"][:3]
    assert [(f["value"], f["unit"]) for f in shown] == [(1_200_000, "people"), (1_500_000, "people"), (2_000_000, "people")]
    [chart] = figures.charts
    assert [(point.label, point.n) for point in chart.points] == [("1890", 1), ("1900", 2), ("1910", 3)]
    assert (chart.title, chart.unit) == ("population of the city", "people")
    assert "<script" not in str((await api.get(f"/v1/runs/{run}/figures")).json["charts"])


async def test_a_link_shows_one_version_and_nothing_else(api: ApiClient, run: str, page: AsyncClient, pool: asyncpg.Pool) -> None:
    link = await page.send(reports.share(run, 7))
    token, path = link.token, f"/v1/shared/{link.token}"
    assert re.fullmatch("[A-Za-z0-9_-]{32}", token)
    nobody = {"Authorization": ""}
    shown = await api.get(path, headers=nobody)
    assert shown.status == 200
    text = shown.body.decode()
    assert "The city" in text
    assert "noindex" in text
    assert "<script" not in text
    assert run not in text
    assert shown.headers["X-Robots-Tag"].startswith("noindex")
    assert "default-src 'none'" in shown.headers["Content-Security-Policy"]
    assert (shown.headers["Cache-Control"], shown.headers["Referrer-Policy"]) == ("private, no-store", "no-referrer")
    assert "set-cookie" not in {name.lower() for name in shown.headers}
    stored = await pool.fetchrow("SELECT token_hash::text, * FROM report_shares")
    assert token not in str(dict(stored or {}))
    assert token not in str((await page.send(reports.shares(run))).items)
    # An answer that shows a secret once does not lie in a table, not even for who repeats a request.
    again: dict[str, Any] = {"json": {}, "headers": {"Idempotency-Key": "share-1"}}
    once = await api.send("POST", f"/v1/runs/{run}/shares", **again)
    while b"being answered" in (repeated := await api.send("POST", f"/v1/runs/{run}/shares", **again)).body:
        await asyncio.sleep(0.05)
    assert repeated.is_problem(409), repeated.body
    await page.send(reports.revoke_share(run, once.json["id"]))
    # A later version does not show through an old link.
    await page.send(reports.revert(run, 1, 1))
    assert (await page.send(reports.shares(run))).items[0].version == 1

    wrong = await api.get("/v1/shared/" + "A" * 32, headers=nobody)
    assert wrong.is_problem(404)
    for other in (f"/v1/runs/{run}", f"/v1/runs/{run}/shares", f"/v1/runs/{run}/export?format=md"):
        assert (await api.get(other, headers=nobody)).is_problem(401)
    await page.send(reports.revoke_share(run, link.id))
    gone = await api.get(path, headers=nobody)
    assert (gone.status, gone.json["detail"]) == (404, wrong.json["detail"])
    told = [(item["action"], item["subject"]) for item in (await api.get("/v1/audit?limit=2")).json["items"]]
    assert told == [("share_ended", run), ("share_ended", run)], "whom links let in is in the audit log"
    assert (await api.get("/v1/audit?action=report_shared")).json["items"][0]["detail"]["version"] == "1"
    late = await page.send(reports.share(run, 1))
    await pool.execute("UPDATE report_shares SET expires_at = now() - interval '1 second' WHERE id = $1", UUID(late.id))
    assert (await api.get(f"/v1/shared/{late.token}", headers=nobody)).is_problem(404)
    assert (await api.post(f"/v1/runs/{run}/shares", {"days": 9999})).is_problem(400)


async def test_what_a_model_wrote_is_read_with_and_without_a_nul(
    api: ApiClient, pool: asyncpg.Pool, run_log: RunLog, page: AsyncClient
) -> None:
    run_id = UUID(await api.ask("What has a NUL?"))
    written = Report(
        title="Duties\0 and \\u0000", sections=(Section(heading="In short", body="Nothing.\0"),), quotes=(), notices=("\0",)
    )
    run = await runs.get(pool, run_id)
    assert run is not None
    done = render(written, run)
    await run_log.save_report(run_id, written, done.renderings, done.evidence, done.told)
    await run_log.set_status(run_id, RunStatus.COMPLETED)
    link = await page.send(reports.share(str(run_id), 7))
    shown = await api.get(f"/v1/shared/{link.token}", headers={"Authorization": ""})
    assert shown.status == 200
    titles = await pool.fetchrow(
        "SELECT report ->> 'title', (SELECT count(*) FROM events e WHERE e.run_id = r.run_id"
        " AND e.payload ->> 'x' IS NULL) > 0 FROM reports r WHERE run_id = $1",
        run_id,
    )
    assert tuple(titles or ()) == ("Duties\ufffd and \\u0000", True)


@pytest.fixture
async def page(api: ApiClient) -> AsyncIterator[AsyncClient]:
    """The client that the page uses, signed in like the other one."""
    async with AsyncClient(api.address, str(HOME_KEY), patience=NONE, trust_env=False) as client:
        yield client
