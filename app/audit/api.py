"""Routes to the audit log: read it in pages, or export it as a table."""

from datetime import date
from typing import Annotated
from uuid import UUID

from litestar import Controller, Response, get
from litestar.params import QueryParameter

from app.accounts.nouns.access import AccessScope
from app.accounts.schemas import AuditPage
from app.audit.storage import Action, AuditFilter
from app.http.authentication import needs
from app.http.dependencies import AccountsService
from app.http.openapi.responses import problem_responses

PAGE_SIZE = 50
Done = Annotated[Action | None, QueryParameter(description="Only this action.")]
By = Annotated[UUID | None, QueryParameter(description="Only what this person did.")]
Since = Annotated[date | None, QueryParameter(description="First day (UTC).")]
Until = Annotated[date | None, QueryParameter(description="Last day (UTC).")]


class AuditController(Controller):
    """Routes of the audit log: who did what, when and from where."""

    path = "/v1/audit"
    tags = ("audit",)
    opt = needs(AccessScope.AUDIT_READ)

    @get(responses=problem_responses(400))
    async def entries(
        self,
        accounts: AccountsService,
        limit: Annotated[int, QueryParameter(ge=1, le=100, description="How many at most.")] = PAGE_SIZE,
        before: Annotated[UUID | None, QueryParameter(description="Only entries older than this one.")] = None,
        action: Done = None,
        user_id: By = None,
        since: Since = None,
        until: Until = None,
    ) -> AuditPage:
        """List who did what, when and from where, newest first."""
        wanted = AuditFilter(action=action, user_id=user_id, since=since, until=until)
        found = await accounts.audit.list_page(limit + 1, before, wanted)
        return AuditPage(items=list(found[:limit]), next=found[limit - 1].id if len(found) > limit else None)

    @get("/export", media_type="text/csv", responses=problem_responses(400))
    async def export(
        self, accounts: AccountsService, action: Done = None, user_id: By = None, since: Since = None, until: Until = None
    ) -> Response[bytes]:
        """Export the log as CSV for a spreadsheet, which computes no cell of it. The export itself is an entry of the log."""
        table = await accounts.audit.export_table(AuditFilter(action=action, user_id=user_id, since=since, until=until))
        headers = {"Content-Disposition": 'attachment; filename="audit.csv"', "Cache-Control": "no-store"}
        return Response(table, media_type="text/csv", headers=headers)
