"""Runs: ask, list, look."""

from typing import Annotated
from uuid import UUID

from litestar import Controller, Response, get, post
from litestar.params import Parameter

from app.api.openapi import problems
from app.api.schemas import NewRun, RunPage
from app.domain.run import Run
from app.services.research import Research

PAGE_SIZE = 20


class RunsController(Controller):
    """A run is one question and everything that is done to answer it."""

    path = "/v1/runs"
    tags = ("runs",)

    @post(responses=problems(400, 413))
    async def create(self, data: NewRun, research: Research) -> Response[Run]:
        """Ask a question. The run starts at once; follow it at its `/events`."""
        run = await research.create(data.query())
        return Response(run, headers={"Location": f"/v1/runs/{run.id}"})

    @get(responses=problems(400))
    async def list_runs(
        self,
        research: Research,
        limit: Annotated[int, Parameter(ge=1, le=100, description="How many at most.")] = PAGE_SIZE,
        before: Annotated[UUID | None, Parameter(description="Only runs older than this one.")] = None,
    ) -> RunPage:
        """All runs, newest first."""
        found = await research.page(limit + 1, before)
        items = list(found[:limit])
        return RunPage(items=items, next=items[-1].id if len(found) > limit else None)

    @get("/{run_id:uuid}", responses=problems(404))
    async def show(self, run_id: UUID, research: Research) -> Run:
        """One run as it stands: status, plan, consumption, budget."""
        return await research.get(run_id)
