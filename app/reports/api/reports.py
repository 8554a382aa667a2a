"""Routes to finished reports, their evidence, and the stored copies of cited sources."""

from typing import Annotated

import orjson
from litestar import Controller, Response, get
from litestar.exceptions import HTTPException
from litestar.openapi import ResponseSpec
from litestar.params import PathParameter

from app.accounts.nouns.access import AccessScope
from app.domain.run import Run
from app.http.authentication import needs
from app.http.dependencies import ApiRequest, RunId, RunsService
from app.http.openapi.responses import problem_responses
from app.reports.schemas import EvidenceView, ReportView
from app.reports.storage.reports import StoredReport

JSON, HTML, MARKDOWN = "application/json", "text/html", "text/markdown"
TAPE = "application/jsonl"
# A report contains foreign text: the policy lets it run nothing and load nothing.
PAGE_POLICY = "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
REPORT = ResponseSpec(ReportView, description="The report.", generate_examples=False)
EVIDENCE = ResponseSpec(EvidenceView, description="The evidence.", generate_examples=False)
Hash = Annotated[str, PathParameter(pattern="^[0-9a-f]{64}$", description="SHA-256 of the text.")]
# Suffixes of a tag: each form of a version is another answer (RFC 9110, section 8.8.3).
FORMS = {JSON: "", HTML: "-html", MARKDOWN: "-md"}
CACHE_FOREVER = "private, max-age=31536000, immutable"


class ReportsController(Controller):
    """Routes to read the results of a run."""

    path = "/v1"
    tags = ("reports",)
    opt = needs(AccessScope.REPORTS_READ)

    @get("/runs/{run_id:uuid}/report", media_type=JSON, responses={**problem_responses(404, 406), 200: REPORT})
    async def report(self, run_id: RunId, runs: RunsService, request: ApiRequest) -> Response[bytes]:
        """Return the report's newest version as JSON, or by the `Accept` header as `text/markdown` or as a `text/html` page."""
        wanted = request.accept.best_match([JSON, HTML, MARKDOWN], default=None)
        if wanted is None:
            raise HTTPException(status_code=406, detail=f"the report comes as {JSON}, {HTML} or {MARKDOWN}")
        run, report = await runs.get_run_and_report(run_id)
        headers = {"Vary": "Accept", "ETag": f'"{report.version}{FORMS[wanted]}"'}
        if wanted == JSON:
            return Response(view_of(run, report).model_dump_json().encode(), media_type=JSON, headers=headers)
        headers["Content-Security-Policy"] = PAGE_POLICY
        text = report.html if wanted == HTML else report.markdown
        return Response(text.encode(), media_type=wanted, headers=headers)

    @get("/runs/{run_id:uuid}/evidence", media_type=JSON, responses={**problem_responses(404), 200: EVIDENCE})
    async def evidence(self, run_id: RunId, runs: RunsService) -> Response[bytes]:
        """Return every citation with its exact quote, its offsets and the stored copy they count in (the file evidence.json)."""
        return Response((await runs.get_evidence(run_id)).encode(), media_type=JSON)

    @get("/runs/{run_id:uuid}/tape", media_type=TAPE, responses=problem_responses(404))
    async def tape(self, run_id: RunId, runs: RunsService) -> Response[bytes]:
        """Return the results of the run's tool calls so far, to be replayed: JSON Lines, each a `call` and its `result`."""
        return Response(await runs.get_tape(run_id), media_type=TAPE)

    @get("/snapshots/{snapshot:str}", media_type="text/plain", responses=problem_responses(404))
    async def snapshot(
        self,
        snapshot: Hash,
        runs: RunsService,
    ) -> Response[bytes]:
        """Return the stored copy of a cited source as plain text. Offsets count its characters."""
        headers = {"Cache-Control": CACHE_FOREVER, "ETag": f'"{snapshot}"'}
        return Response(await runs.get_snapshot(snapshot), media_type="text/plain", headers=headers)


def view_of(run: Run, stored: StoredReport) -> ReportView:
    """Return a version of a report as JSON readers get it."""
    report, evidence = orjson.loads(stored.report), orjson.loads(stored.evidence)
    return ReportView(
        run_id=run.id,
        question=run.query.question,
        status=run.status,
        title=report["title"],
        markdown=stored.markdown,
        html=stored.html,
        citations=evidence["citations"],
        claims=evidence.get("claims", []),
        notices=report.get("notices", []),
        version=stored.version,
        usage=run.usage,
        created_at=stored.created_at,
    )
