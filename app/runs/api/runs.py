"""Routes to ask a question, and to list, read and delete runs."""

from datetime import date
from typing import Annotated
from uuid import UUID

from litestar import Controller, Response, delete, get, post
from litestar.params import JSONBody, QueryParameter

from app.accounts.nouns.access import AccessScope
from app.asking.schemas import GivenRubric
from app.domain.errors import InvalidInput
from app.domain.run import Run
from app.http.authentication import needs
from app.http.dependencies import AskingService, CurrentPrincipal, DeletingService, RunId, RunsService, SuggestionsService
from app.http.openapi.responses import problem_responses
from app.runs.api.suggested_sources import choose_sources
from app.runs.nouns import RunFilter, RunPhase
from app.runs.schemas import NewRun, PurposePage, RunPage

PAGE_SIZE = 20


class RunsController(Controller):
    """A run is one question and everything that is done to answer it."""

    path = "/v1/runs"
    tags = ("runs",)
    opt = needs(AccessScope.RUNS_READ)

    @post(opt=needs(AccessScope.RUNS_WRITE), responses=problem_responses(400, 413))
    async def create(
        self, data: JSONBody[NewRun], runs: RunsService, asking: AskingService, suggestions: SuggestionsService
    ) -> Response[Run]:
        """Ask a question. The run starts at once; its events are at `/events`."""
        query, given = await choose_sources(data, suggestions), data.rubric
        agreed = await asking.agree(given.criteria, given.draft) if isinstance(given, GivenRubric) else None
        if (
            given and data.beside and agreed is None
        ):  # all systems are held to the same rubric, so it is drafted before any of them starts
            await runs.check(query, data.beside)  # a draft is paid for
            agreed = await asking.draft_and_agree(query)
        run = await runs.create(query, agreed=agreed, beside=data.beside)
        return Response(run, headers={"Location": f"/v1/runs/{run.id}"})

    @get(responses=problem_responses(400))
    async def list_runs(
        self,
        runs: RunsService,
        principal: CurrentPrincipal,
        limit: Annotated[int, QueryParameter(ge=1, le=100, description="How many at most.")] = PAGE_SIZE,
        before: Annotated[UUID | None, QueryParameter(description="Only runs older than this one.")] = None,
        q: Annotated[str, QueryParameter(max_length=200, description="Only runs with these words in question or report.")] = "",
        phase: Annotated[RunPhase | None, QueryParameter(description="Only runs in this phase.")] = None,
        since: Annotated[date | None, QueryParameter(description="Asked on this day (UTC) or later.")] = None,
        until: Annotated[date | None, QueryParameter(description="Asked on this day (UTC) or earlier.")] = None,
        own: Annotated[bool, QueryParameter(description="Only runs that you asked for.")] = False,
    ) -> RunPage:
        """List the organisation's runs, newest first."""
        if "\0" in q:
            raise InvalidInput("`q` has a null character; send plain words")
        asked_by = principal.user_id if own else None
        wanted = RunFilter(words=tuple(q.split()), phase=phase, since=since, until=until, asked_by=asked_by)
        found = await runs.list_page(limit + 1, before, wanted)
        items = list(found[:limit])
        return RunPage(items=items, next=items[-1].id if len(found) > limit else None)

    @get("/{run_id:uuid}", responses=problem_responses(404))
    async def show(self, run_id: RunId, runs: RunsService) -> Run:
        """Return one run as it stands: status, plan, consumption, budget."""
        return await runs.get(run_id)

    @get("/{run_id:uuid}/usage", responses=problem_responses(404))
    async def usage(self, run_id: RunId, runs: RunsService) -> PurposePage:
        """Return what the run's model calls used for planning, reading, writing, re-reading and judging."""
        return PurposePage(items=list(await runs.list_purposes(run_id)))

    @delete("/{run_id:uuid}", opt=needs(AccessScope.RUNS_WRITE), responses=problem_responses(403, 404, 409))
    async def remove(self, run_id: RunId, deleting: DeletingService, principal: CurrentPrincipal) -> None:
        """Delete a run that has ended, for good: its report and versions, links, comparisons, judgements, log and stored steps.

        The person who asked it may delete it, and owners and admins may. The tokens and money it used stay counted.
        """
        await deleting.delete(principal, run_id)
