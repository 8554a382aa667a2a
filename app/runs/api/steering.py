"""Steer a run that is under way. Commands are accepted at once and take effect within seconds."""

from litestar import Controller, post, put
from litestar.params import JSONBody

from app.accounts.nouns.access import AccessScope
from app.domain.budget import Budget
from app.domain.run import Run
from app.http.authentication import needs
from app.http.dependencies import RunId, SteeringService
from app.http.openapi.responses import problem_responses
from app.runs.schemas import AddedNote, NewNote, Resumption


class SteeringController(Controller):
    """Commands to a run that is under way."""

    path = "/v1/runs/{run_id:uuid}"
    tags = ("steering",)
    opt = needs(AccessScope.RUNS_WRITE)

    @post("/pause", status_code=202, responses=problem_responses(404, 409))
    async def pause(self, run_id: RunId, steering: SteeringService) -> Run:
        """Pause the run. Everything is kept; a run may stay paused for days."""
        return await steering.pause(run_id)

    @post("/resume", status_code=202, responses=problem_responses(400, 404, 409))
    async def resume(self, run_id: RunId, steering: SteeringService, data: JSONBody[Resumption | None] = None) -> Run:
        """Continue a run that is paused or has reached its budget."""
        wish = data or Resumption()
        return await steering.resume(run_id, wish.finish, wish.present_models)

    @post("/approve", status_code=202, responses=problem_responses(404, 409))
    async def approve(self, run_id: RunId, steering: SteeringService) -> Run:
        """Approve the plan, as it stands now, of a run that waits for approval."""
        return await steering.approve(run_id)

    @post("/cancel", status_code=202, responses=problem_responses(404, 409))
    async def cancel(self, run_id: RunId, steering: SteeringService) -> Run:
        """End the run for good."""
        return await steering.cancel(run_id)

    @post("/notes", responses=problem_responses(400, 404, 409))
    async def add_note(self, run_id: RunId, data: JSONBody[NewNote], steering: SteeringService) -> AddedNote:
        """Add a note that agents read at the start of each later stage."""
        return AddedNote(seq=await steering.add_note(run_id, data.text), text=data.text)

    @put("/budget", responses=problem_responses(400, 404, 409))
    async def set_budget(self, run_id: RunId, data: JSONBody[Budget], steering: SteeringService) -> Run:
        """Set the hard cap; null means uncapped. A run that waits at its budget continues when it is resumed."""
        return await steering.set_budget(run_id, data)
