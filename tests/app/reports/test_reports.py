"""Reading reports, evidence and stored sources."""

import hashlib
from uuid import UUID

import pytest

from app.domain.report import Report, Section
from app.domain.run import RunStatus
from app.runs.storage.run_log import Renderings, RunLog, SourceSnapshot
from tests.app.served_api import ApiClient
from tests.support.stage_opening import open_stage

TEXT = "Duties were high in 1890.\r\n Ça va \U0001f600\x00 end"
HASH = hashlib.sha256(TEXT.encode()).hexdigest()
EVIDENCE = {
    "citations": [{"n": 1, "quote": "Duties", "start": 0, "end": 6, "source": {"title": "T", "url": "u", "snapshot": HASH}}]
}
REPORT = Report(title="Tariffs", sections=(Section(heading="Then", body="High."),), notices=("one part failed",))


@pytest.fixture
async def run(api: ApiClient, run_log: RunLog) -> str:
    """A finished run."""
    run_id = await api.ask("Why \u0394?")
    opening = await open_stage(run_log, UUID(run_id), "search/s1", None)
    await run_log.close_stage(UUID(run_id), "search/s1", opening.attempt, b"{}", [SourceSnapshot(HASH, TEXT)], {})
    await run_log.save_report(
        UUID(run_id), REPORT, Renderings("# Tariffs\u0394", "<h1>Tariffs\u0394</h1>"), EVIDENCE, {"sections": 1}
    )
    await run_log.set_status(UUID(run_id), RunStatus.COMPLETED)
    return run_id


async def test_the_report_as_json(api: ApiClient, run: str) -> None:
    report = (await api.get(f"/v1/runs/{run}/report")).json
    assert (report["title"], report["markdown"], report["html"]) == ("Tariffs", "# Tariffs\u0394", "<h1>Tariffs\u0394</h1>")
    assert (report["citations"], report["notices"]) == (EVIDENCE["citations"], ["one part failed"])
    assert (report["status"], report["question"], report["run_id"]) == ("completed", "Why \u0394?", run)


@pytest.mark.parametrize(
    ("accept", "kind", "body"),
    [
        ("text/markdown", "text/markdown; charset=utf-8", "# Tariffs\u0394"),
        ("text/html,application/xhtml+xml,*/*;q=0.8", "text/html; charset=utf-8", "<h1>Tariffs\u0394</h1>"),
    ],
)
async def test_the_report_as_text(api: ApiClient, run: str, accept: str, kind: str, body: str) -> None:
    reply = await api.get(f"/v1/runs/{run}/report", headers={"Accept": accept})
    assert (reply.headers["Content-Type"], reply.body.decode()) == (kind, body)
    assert "sandbox" in reply.headers["Content-Security-Policy"]
    other = await api.get(f"/v1/runs/{run}/report", headers={"Accept": "application/json"})
    assert other.headers["ETag"] != reply.headers["ETag"], "a cache that has one form must not be told that another is the same"
    crossed = {"Accept": "application/json", "If-None-Match": reply.headers["ETag"]}
    assert (await api.get(f"/v1/runs/{run}/report", headers=crossed)).status == 200
    same = {"Accept": accept, "If-None-Match": reply.headers["ETag"]}
    assert (await api.get(f"/v1/runs/{run}/report", headers=same)).status == 304


async def test_no_other_form_of_the_report(api: ApiClient, run: str) -> None:
    assert (await api.get(f"/v1/runs/{run}/report", headers={"Accept": "image/png"})).is_problem(406)


async def test_every_offset_can_be_checked_in_the_stored_copy(api: ApiClient, run: str) -> None:
    [citation] = (await api.get(f"/v1/runs/{run}/evidence")).json["citations"]
    stored = await api.get(f"/v1/snapshots/{citation['source']['snapshot']}")
    assert stored.body == TEXT.encode()
    assert stored.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert stored.body.decode()[citation["start"] : citation["end"]] == citation["quote"]


async def test_a_report_that_is_not_ready_says_where_the_run_stands(api: ApiClient) -> None:
    run = await api.ask()
    for what in ("report", "evidence"):
        reply = await api.get(f"/v1/runs/{run}/{what}")
        assert reply.is_problem(404)
        assert "running" in reply.json["detail"]
