"""Read, compare, edit and restore versions of a report; ask questions about its evidence."""

import re
from typing import Annotated
from uuid import UUID

from litestar import Controller, Response, get, post, put
from litestar.params import FromPath, HeaderParameter, JSONBody, PathParameter, QueryParameter

from app.accounts.nouns.access import AccessScope
from app.domain.errors import InvalidInput
from app.domain.report import Report
from app.domain.revision import VersionInfo
from app.http.authentication import needs
from app.http.dependencies import RevisionsService, RunId, RunsService
from app.http.openapi.responses import problem_responses
from app.reports.api.reports import view_of
from app.reports.schemas import (
    MOST_VERSIONS,
    AnswerPage,
    AnswerView,
    ChangePage,
    ChangeView,
    Edit,
    NewQuestion,
    Rewriting,
    RewritingKind,
    VersionPage,
    VersionView,
    answer_view_of,
    change_view_of,
    section_views_of,
)
from app.reports.service.revisions.differences import ReportDiff

PAGE_SIZE = 20
ETAG = re.compile(r'(?:W/)?"v?(\d{1,9})(?:-html|-md)?"')
IfMatch = Annotated[
    str | None,
    HeaderParameter(
        name="If-Match", description='The version you read, as its ETag says: `"3"`. Without it, the newest is changed.'
    ),
]
Limit = Annotated[int, QueryParameter(ge=1, le=100, description="How many at most.")]
Before = Annotated[UUID | None, QueryParameter(description="Only those older than this one.")]
VersionNumber = Annotated[int, PathParameter(ge=1, le=MOST_VERSIONS, description="The version's number, from 1.")]
SectionNumber = Annotated[int, PathParameter(ge=0, le=10_000, description="The section's place in the version, from 0.")]
READ, WRITE = needs(AccessScope.REPORTS_READ), needs(AccessScope.REPORTS_WRITE)


class VersionsController(Controller):
    """Routes to work with a finished report."""

    path = "/v1/runs/{run_id:uuid}"
    tags = ("reports",)

    @get("/versions", opt=READ, responses=problem_responses(400, 404))
    async def versions(
        self,
        run_id: RunId,
        revisions: RevisionsService,
        limit: Limit = PAGE_SIZE,
        before: Annotated[
            int | None, QueryParameter(ge=1, le=MOST_VERSIONS, description="Only versions before this one.")
        ] = None,
    ) -> VersionPage:
        """List all versions, newest first. Version 1 is the report as the run delivered it."""
        found = [info for info in await revisions.list_versions(run_id) if before is None or info.n < before]
        return VersionPage(items=found[:limit], next=found[limit - 1].n if len(found) > limit else None)

    @get("/versions/{n:int}", opt=READ, responses=problem_responses(404))
    async def version(
        self, run_id: RunId, n: VersionNumber, runs: RunsService, revisions: RevisionsService
    ) -> Response[VersionView]:
        """Return one whole version, with its sections as they can be edited. Its ETag goes into `If-Match` of a change."""
        run, stored = await runs.get_run_and_report(run_id, n)
        info = next(info for info in await revisions.list_versions(run_id) if info.n == n)
        report = Report.of_any_version(stored.report)
        whole = VersionView(**view_of(run, stored).model_dump(), info=info, sections=section_views_of(report))
        return Response(whole, headers={"ETag": f'"{n}"'})

    @get("/versions/{n:int}/diff", opt=READ, responses=problem_responses(400, 404))
    async def diff(
        self,
        run_id: RunId,
        n: VersionNumber,
        revisions: RevisionsService,
        other: Annotated[
            int,
            QueryParameter(name="with", ge=1, le=MOST_VERSIONS, description="The version to compare with, usually a newer one."),
        ],
    ) -> ReportDiff:
        """Return the changes from version n to the other, by section and word."""
        return await revisions.diff(run_id, n, other)

    @post("/versions/{n:int}/revert", opt=WRITE, responses=problem_responses(404, 409))
    async def revert(self, run_id: RunId, n: VersionNumber, revisions: RevisionsService, if_match: IfMatch = None) -> VersionInfo:
        """Make version n the newest again, as a new version."""
        return await revisions.revert(run_id, n, _read_expected(if_match))

    @put("/sections/{k:int}", opt=WRITE, status_code=202, responses=problem_responses(400, 404, 409))
    async def edit(
        self, run_id: RunId, k: SectionNumber, data: JSONBody[Edit], revisions: RevisionsService, if_match: IfMatch = None
    ) -> Response[ChangeView]:
        """Replace a section by your own text. Its claims are judged again; the new version exists when the change is done."""
        task = await revisions.edit(run_id, k, data.heading, data.markdown, _read_expected(if_match))
        return Response(change_view_of(task), headers={"Location": f"/v1/runs/{run_id}/changes/{task.id}"})

    @post("/sections/{k:int}/rewrite", opt=WRITE, status_code=202, responses=problem_responses(400, 402, 404, 409))
    async def rewrite(
        self, run_id: RunId, k: SectionNumber, data: JSONBody[Rewriting], revisions: RevisionsService, if_match: IfMatch = None
    ) -> Response[ChangeView]:
        """Write a section (with its parts) again, or deepen it, from the run's stored evidence."""
        task = await revisions.rewrite(run_id, k, data.how is RewritingKind.DEEPEN, data.wish, _read_expected(if_match))
        return Response(change_view_of(task), headers={"Location": f"/v1/runs/{run_id}/changes/{task.id}"})

    @get("/changes", opt=READ, responses=problem_responses(400, 404))
    async def changes(
        self, run_id: RunId, revisions: RevisionsService, limit: Limit = PAGE_SIZE, before: Before = None
    ) -> ChangePage:
        """List the requested changes, newest first."""
        found = await revisions.list_tasks(run_id, False, limit + 1, before)
        items = [change_view_of(task) for task in found[:limit]]
        return ChangePage(items=items, next=items[-1].id if len(found) > limit else None)

    @get("/changes/{task_id:uuid}", opt=READ, responses=problem_responses(404))
    async def change(self, run_id: RunId, task_id: FromPath[UUID], revisions: RevisionsService) -> ChangeView:
        """Return the state of a change."""
        return change_view_of(await revisions.get_task(run_id, task_id))

    @post("/questions", opt=WRITE, status_code=202, responses=problem_responses(400, 402, 404, 409))
    async def ask(self, run_id: RunId, data: JSONBody[NewQuestion], revisions: RevisionsService) -> Response[AnswerView]:
        """Ask a further question, answered from the run's stored evidence; nothing is searched."""
        task = await revisions.ask(run_id, data.question)
        return Response(answer_view_of(task), headers={"Location": f"/v1/runs/{run_id}/questions/{task.id}"})

    @get("/questions", opt=READ, responses=problem_responses(400, 404))
    async def questions(
        self, run_id: RunId, revisions: RevisionsService, limit: Limit = PAGE_SIZE, before: Before = None
    ) -> AnswerPage:
        """List the follow-up questions with their answers, newest first."""
        found = await revisions.list_tasks(run_id, True, limit + 1, before)
        items = [answer_view_of(task) for task in found[:limit]]
        return AnswerPage(items=items, next=items[-1].id if len(found) > limit else None)

    @get("/questions/{task_id:uuid}", opt=READ, responses=problem_responses(404))
    async def question(self, run_id: RunId, task_id: FromPath[UUID], revisions: RevisionsService) -> AnswerView:
        """Return one follow-up question."""
        return answer_view_of(await revisions.get_task(run_id, task_id))


def _read_expected(if_match: str | None) -> int | None:
    """Return the version that an If-Match header names; None for no header and for `*`.

    Raises:
        InvalidInput: the header is no version's ETag.
    """
    if if_match is None or if_match.strip() == "*":
        return None
    found = ETAG.fullmatch(if_match.strip())
    if found is None:
        raise InvalidInput('If-Match takes the ETag of one version, as "3"')
    return int(found.group(1))
