"""Reports as files, over a real socket; each opened by somebody else's reader."""

from uuid import UUID

import asyncpg
import pytest

from app.domain.report import Report, Section
from app.domain.run import RunStatus
from app.exports.nouns import ExportFormat
from app.exports.service.composing import Manuscript, compose
from app.reports.rendering import render
from app.reports.rendering.numbering import number_citations
from app.runs.storage import runs
from app.runs.storage.run_log import RunLog
from bench.exports import READERS, REFERENCES, expect_document, find_lost_parts
from tests.app.exports.example_reports import make_manuscript
from tests.app.served_api import ApiClient


@pytest.fixture
async def run(api: ApiClient, run_log: RunLog, pool: asyncpg.Pool) -> str:
    """A finished run."""
    return await deliver(api, run_log, pool, make_manuscript())


async def deliver(api: ApiClient, run_log: RunLog, pool: asyncpg.Pool, given: Manuscript) -> str:
    """Finish a run with this report."""
    run_id = await api.ask(given.question, language="en")
    run = await runs.get(pool, UUID(run_id))
    assert run is not None
    made = render(given.report, run)
    await run_log.save_report(UUID(run_id), given.report, made.renderings, made.evidence, made.told)
    await run_log.set_status(UUID(run_id), RunStatus.COMPLETED)
    return run_id


async def test_every_format_holds_the_whole_report(api: ApiClient, run: str) -> None:
    given = make_manuscript()
    document, citations = compose(given), number_citations(given.report).citations
    for form in ExportFormat:
        reply = await api.get(f"/v1/runs/{run}/export?format={form}")
        assert reply.status == 200, reply.body
        assert reply.headers["Content-Type"].split(";")[0] == form.media_type
        assert f'filename="Duties-b-5-b.{form.extension}"' in reply.headers["Content-Disposition"]
        assert "%E5%85%B3%E7%A8%8E" in reply.headers["Content-Disposition"]
        assert "sandbox" in reply.headers["Content-Security-Policy"]
        found = READERS[form](reply.body)
        assert not find_lost_parts(found, expect_document(form, document), citations, form in REFERENCES), form


async def test_a_report_without_citations_comes_in_every_format(api: ApiClient, run_log: RunLog, pool: asyncpg.Pool) -> None:
    sections = (Section(heading="Part", body="Nothing here answers the question."),)
    given = make_manuscript().model_copy(update={"report": Report(title="Nothing found", sections=sections)})
    run = await deliver(api, run_log, pool, given)
    for form in ExportFormat:
        reply = await api.get(f"/v1/runs/{run}/export?format={form}")
        assert reply.status == 200, (form, reply.body)
        found = READERS[form](reply.body)
        assert (found.numbers, found.addresses) == (frozenset(), frozenset())
        if form not in REFERENCES:
            assert not find_lost_parts(found, expect_document(form, compose(given)), (), sources_only=False), form


async def test_what_cannot_be_exported_says_why(api: ApiClient, run: str) -> None:
    assert (await api.get(f"/v1/runs/{run}/export?format=exe")).is_problem(400)
    assert (await api.get(f"/v1/runs/{run}/export")).is_problem(400)
    unfinished = await api.ask()
    assert (await api.get(f"/v1/runs/{unfinished}/export?format=pdf")).is_problem(404)
