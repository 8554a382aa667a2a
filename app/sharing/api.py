"""Routes of links to reports: members make them, and anybody who has one reads the report."""

from typing import Annotated
from uuid import UUID

from litestar import Controller, Response, delete, get, post
from litestar.params import FromPath, JSONBody, PathParameter

from app.accounts.nouns.access import AccessScope
from app.http.authentication import PUBLIC, needs
from app.http.dependencies import ApiRequest, RunId, SharingService
from app.http.openapi.responses import problem_responses
from app.idempotency.api import SHOWN_ONCE
from app.reports.api.reports import HTML, MARKDOWN
from app.reports.schemas import CreatedShare, NewShare, SharePage

READ, WRITE = needs(AccessScope.REPORTS_READ), needs(AccessScope.REPORTS_WRITE)
# The page runs nothing and loads nothing, no page frames it, no search engine lists it, and no other site learns its address.
SHARED_PAGE_HEADERS = {
    "Content-Security-Policy": (
        "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-store",
    "Vary": "Accept",
}
NOINDEX = '<meta name="robots" content="noindex, nofollow">'


class SharesController(Controller):
    """Routes of a report's links."""

    path = "/v1/runs/{run_id:uuid}/shares"
    tags = ("reports",)

    @post(opt={**WRITE, **SHOWN_ONCE}, responses=problem_responses(400, 404, 409))
    async def share(self, run_id: RunId, data: JSONBody[NewShare], sharing: SharingService) -> Response[CreatedShare]:
        """Make a read-only link to one version. Only this answer ever shows its token."""
        made = await sharing.share(run_id, data.days, data.version)
        path = f"/v1/shared/{made.token}"
        return Response(CreatedShare(**made.share.model_dump(), token=made.token, path=path), headers={"Location": path})

    @get(opt=READ, responses=problem_responses(404))
    async def shares(self, run_id: RunId, sharing: SharingService) -> SharePage:
        """List all links of this run, newest first, without their tokens; ended ones too. There are 100 at most."""
        return SharePage(items=list(await sharing.list_links(run_id)))

    @delete("/{share_id:uuid}", opt=WRITE, status_code=204, responses=problem_responses(404))
    async def revoke(self, run_id: RunId, share_id: FromPath[UUID], sharing: SharingService) -> None:
        """End a link now."""
        await sharing.revoke(run_id, share_id)


@get("/v1/shared/{token:str}", opt=PUBLIC, security=[{}], tags=("reports",), media_type=HTML, responses=problem_responses(404))
async def shared(
    token: Annotated[str, PathParameter(pattern="^[A-Za-z0-9_-]{32}$", description="The link's token.")],
    sharing: SharingService,
    request: ApiRequest,
) -> Response[bytes]:
    """Return the shared version as a page (or as `text/markdown`): the report with its quotations, nothing else."""
    found = await sharing.read_report(token)
    wanted = request.accept.best_match([HTML, MARKDOWN], default=None) or HTML
    text = found.markdown if wanted == MARKDOWN else found.html.replace("<title>", f"{NOINDEX}<title>", 1)
    return Response(text.encode(), media_type=wanted, headers=SHARED_PAGE_HEADERS)
