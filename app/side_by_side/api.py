"""Routes to one question worked by several systems on the same evidence."""

from litestar import Controller, get, post
from litestar.params import JSONBody

from app.accounts.nouns.access import AccessScope
from app.asking.schemas import GivenRubric
from app.http.authentication import needs
from app.http.dependencies import AskingService, CurrentPrincipal, LaterScoresService, RunId, SideBySideService
from app.http.openapi.responses import problem_responses
from app.side_by_side.schemas import FurtherSystems, JudgingRequest, SideBySideView


class SideBySideController(Controller):
    """Runs that stand side by side share their tool results and their rubric; each is otherwise a run of its own."""

    path = "/v1/runs/{run_id:uuid}/side-by-side"
    tags = ("runs",)
    opt = needs(AccessScope.RUNS_READ)

    @get(responses=problem_responses(404))
    async def show(self, run_id: RunId, side_by_side: SideBySideService, principal: CurrentPrincipal) -> SideBySideView:
        """Return the runs of this run's question with their scorecards; only this run where no other system was asked."""
        return SideBySideView.of(await side_by_side.show(run_id), principal.scopes)

    @post(opt=needs(AccessScope.RUNS_WRITE), responses=problem_responses(400, 404, 409))
    async def add(
        self, run_id: RunId, data: JSONBody[FurtherSystems], side_by_side: SideBySideService, principal: CurrentPrincipal
    ) -> SideBySideView:
        """Add further systems to this run, finished or not: they work its question with its options, rubric and evidence."""
        return SideBySideView.of(await side_by_side.add(run_id, data.systems), principal.scopes)

    @post("/scores", opt=needs(AccessScope.RUNS_WRITE), responses=problem_responses(400, 404, 409))
    async def judge(
        self,
        run_id: RunId,
        data: JSONBody[JudgingRequest],
        scores: LaterScoresService,
        asking: AskingService,
        principal: CurrentPrincipal,
    ) -> SideBySideView:
        """Judge the finished reports without a scorecard by one rubric, each at the cost of its run."""
        given = data.rubric
        agreed = await asking.agree(given.criteria, given.draft) if isinstance(given, GivenRubric) else None
        return SideBySideView.of(await scores.judge(run_id, agreed), principal.scopes)
