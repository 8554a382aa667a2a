"""Links to reports: made by members, read by anybody who has one."""

from typing import Annotated
from uuid import UUID

from litestar import Controller, Response, delete, get, post
from litestar.params import FromPath, JSONBody, PathParameter

from app.accounts.nouns.access import Scope
from app.http.authentication import PUBLIC, needs
from app.http.dependencies import ApiRequest, RunId, SharingService
from app.http.openapi.responses import problem_responses
from app.idempotency.api import SHOWN_ONCE
from app.reports.api.reports import HTML, MARKDOWN
from app.reports.schemas import CreatedShare, NewShare, SharePage

READ, WRITE = needs(Scope.REPORTS_READ), needs(Scope.REPORTS_WRITE)
# The page runs nothing and loads nothing, is framed by nobody, found by no search engine, and tells no other site its address.
SHARED = {
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
    """A report's links."""

    path = "/v1/runs/{run_id:uuid}/shares"
    tags = ("reports",)

    @post(opt={**WRITE, **SHOWN_ONCE}, responses=problem_responses(400, 404, 409))
    async def share(self, run_id: RunId, data: JSONBody[NewShare], sharing: SharingService) -> Response[CreatedShare]:
        """A read-only link to one version. Its token is told now and never again."""
        made = await sharing.share(run_id, data.days, data.version)
        path = f"/v1/shared/{made.token}"
        return Response(CreatedShare(**made.share.model_dump(), token=made.token, path=path), headers={"Location": path})

    @get(opt=READ, responses=problem_responses(404))
    async def shares(self, run_id: RunId, sharing: SharingService) -> SharePage:
        """All links of this run, newest first, without their tokens; ended ones too. There are 100 at most."""
        return SharePage(items=list(await sharing.listed(run_id)))

    @delete("/{share_id:uuid}", opt=WRITE, status_code=204, responses=problem_responses(404))
    async def revoke(self, run_id: RunId, share_id: FromPath[UUID], sharing: SharingService) -> None:
        """End a link now."""
        await sharing.revoke(run_id, share_id)


@get("/v1/shared/{token:str}", opt=PUBLIC, security=[{}], tags=("reports",), media_type=HTML, responses=problem_responses(404))
async def shared(
    token: Annotated[str, PathParameter(pattern="^[A-Za-z0-9_-]{32}$", description="Of the link.")],
    sharing: SharingService,
    request: ApiRequest,
) -> Response[bytes]:
    """The shared version as a page (or as `text/markdown`): the report with its quotations and nothing else of the run."""
    found = await sharing.read(token)
    wanted = request.accept.best_match([HTML, MARKDOWN], default=None) or HTML
    text = found.markdown if wanted == MARKDOWN else found.html.replace("<title>", f"{NOINDEX}<title>", 1)
    return Response(text.encode(), media_type=wanted, headers=SHARED)
