"""Read the plan of a run, and change it without overwriting what somebody else changed meanwhile.

The plan's ETag is its revision. A change that names it in `If-Match` is made on that revision or not at all (412).
"""

import re
from typing import Annotated

from litestar import Controller, Response, delete, get, post, put
from litestar.params import HeaderParameter, JSONBody, PathParameter

from app.accounts.nouns.access import AccessScope
from app.domain.errors import Outdated
from app.domain.plan import SUBTASK_ID, ResearchPlan, Subtask
from app.http.authentication import needs
from app.http.dependencies import RunId, SteeringService
from app.http.openapi.responses import problem_responses

READ, WRITE = needs(AccessScope.RUNS_READ), needs(AccessScope.RUNS_WRITE)
TAG = re.compile(r'"plan-(\d{1,9})"')
IfMatch = Annotated[
    str | None, HeaderParameter(name="If-Match", description="The plan's ETag: change it only if it is still at that revision.")
]

SubtaskId = Annotated[str, PathParameter(pattern=SUBTASK_ID, description="The subtask's id in the plan.")]


class PlansController(Controller):
    """Routes to read and change a plan. Changes take effect before every agent's next turn."""

    path = "/v1/runs/{run_id:uuid}/plan"
    tags = ("steering",)

    @get(opt=READ, responses=problem_responses(404))
    async def show_plan(self, run_id: RunId, steering: SteeringService) -> Response[ResearchPlan]:
        """Return the plan as it stands, with its revision as `ETag`."""
        return _answer_with_tag(await steering.get_plan(run_id))

    @put(opt=WRITE, responses=problem_responses(400, 404, 409, 412))
    async def revise_plan(
        self, run_id: RunId, data: JSONBody[ResearchPlan], steering: SteeringService, matching: IfMatch = None
    ) -> Response[ResearchPlan]:
        """Replace the plan. Findings of subtasks whose id stays are kept; the id of one taken out goes to no other question."""
        return _answer_with_tag(await steering.revise_plan(run_id, data, _revision_of(matching)))

    @post("/subtasks", opt=WRITE, responses=problem_responses(400, 404, 409, 412))
    async def add_subtask(
        self, run_id: RunId, data: JSONBody[Subtask], steering: SteeringService, matching: IfMatch = None
    ) -> Response[ResearchPlan]:
        """Add one subtask."""
        return _answer_with_tag(await steering.add_subtask(run_id, data, _revision_of(matching)))

    @delete("/subtasks/{subtask_id:str}", status_code=200, opt=WRITE, responses=problem_responses(400, 404, 409, 412))
    async def drop_subtask(
        self, run_id: RunId, subtask_id: SubtaskId, steering: SteeringService, matching: IfMatch = None
    ) -> Response[ResearchPlan]:
        """Drop one subtask; if it runs, it hands over what it has."""
        return _answer_with_tag(await steering.drop_subtask(run_id, subtask_id, _revision_of(matching)))


def _answer_with_tag(plan: ResearchPlan) -> Response[ResearchPlan]:
    return Response(plan, headers={"ETag": f'"plan-{plan.revision}"', "Cache-Control": "private, no-cache"})


def _revision_of(tag: str | None) -> int | None:
    """Return the revision that a client expects; None where it takes any."""
    if tag is None or tag.strip() == "*":
        return None
    found = TAG.fullmatch(tag.strip())
    if found is None:
        raise Outdated("`If-Match` is not the plan's ETag; read the plan again, and send the tag that comes with it")
    return int(found.group(1))
