"""Routes to export reports as files."""

from typing import Annotated

from litestar import Controller, Response, get
from litestar.params import QueryParameter

from app.accounts.nouns.access import AccessScope
from app.exports.nouns import ExportFormat
from app.http.authentication import needs
from app.http.dependencies import ExportsService, RunId, RunsService
from app.http.downloads import disposition_of
from app.http.openapi.responses import problem_responses
from app.reports.api.reports import PAGE_POLICY
from app.reports.schemas import MOST_VERSIONS


class ExportsController(Controller):
    """Reports as files."""

    path = "/v1"
    tags = ("reports",)
    opt = needs(AccessScope.REPORTS_READ)

    @get("/runs/{run_id:uuid}/export", media_type="application/octet-stream", responses=problem_responses(400, 404, 409))
    async def export(
        self,
        run_id: RunId,
        runs: RunsService,
        exports: ExportsService,
        form: Annotated[
            ExportFormat,
            QueryParameter(name="format", description="A document, or the sources it cites as BibTeX, RIS or CSL-JSON."),
        ],
        version: Annotated[int | None, QueryParameter(ge=1, le=MOST_VERSIONS, description="By default the newest.")] = None,
    ) -> Response[bytes]:
        """Return the report as a file. A PDF or Word file takes a second or two to make."""
        made = await exports.export(*await runs.get_run_and_report(run_id, version), form)
        headers = {
            "Content-Disposition": disposition_of(made.title, form.extension),
            "Content-Security-Policy": PAGE_POLICY,
            "Cache-Control": "private, no-cache",
        }
        return Response(made.content, media_type=form.media_type, headers=headers)
