"""Routes to findings in a report's evidence: disagreements, numbers, charts."""

import asyncio

from litestar import Controller, get

from app.accounts.nouns.access import AccessScope
from app.domain.report import Report
from app.http.authentication import needs
from app.http.dependencies import RunId, RunsService
from app.http.openapi.responses import problem_responses
from app.reports.rendering.numbering import number_citations
from app.reports.schemas import DisagreementPage, FigurePage
from app.reports.service.findings.charts import draw_charts
from app.reports.service.findings.disagreements import list_disagreements
from app.reports.service.findings.numbers import find_figures


class FindingsController(Controller):
    """Tables of a report's newest version."""

    path = "/v1/runs/{run_id:uuid}"
    tags = ("reports",)
    opt = needs(AccessScope.REPORTS_READ)

    @get("/contradictions", responses=problem_responses(404))
    async def contradictions(self, run_id: RunId, runs: RunsService) -> DisagreementPage:
        """List where sources disagree with each other, and which sentences of the report contradict their own sources."""
        stored = await runs.get_report(run_id)
        return DisagreementPage(items=list_disagreements(Report.of_any_version(stored.report)))

    @get("/figures", responses=problem_responses(404))
    async def figures(self, run_id: RunId, runs: RunsService) -> FigurePage:
        """List numbers with units from the cited quotes, each with its citation; and charts where three or more compare."""
        stored = await runs.get_report(run_id)
        return await asyncio.to_thread(_read_figures, stored.report)


def _read_figures(text: str) -> FigurePage:
    found = find_figures(number_citations(Report.of_any_version(text)).citations)
    return FigurePage(items=found, charts=draw_charts(found))
