"""Routes before a run: estimates, questions back, and drafts of rubrics; and a run's rubric and scorecard."""

from litestar import Controller, get, post, put
from litestar.params import JSONBody

from app.accounts.nouns.access import AccessScope
from app.asking.nouns import Estimate
from app.asking.schemas import Clarifications, DraftedRubric, EditedRubric, RubricView, SuggestedCollections
from app.domain.contract import DraftKind
from app.domain.scorecard import Scorecard
from app.http.authentication import needs
from app.http.dependencies import AskingService, CurrentPrincipal, RunId, SuggestionsService
from app.http.openapi.responses import problem_responses
from app.runs.schemas import NewRun


class AskingController(Controller):
    """Routes to settle a run's terms before anything is spent, and to check the report against them."""

    path = "/v1"
    tags = ("asking",)
    opt = needs(AccessScope.RUNS_READ)

    @post("/estimates", status_code=200, responses=problem_responses(400))
    async def estimate(self, data: JSONBody[NewRun], asking: AskingService) -> Estimate:
        """Estimate what a run of this question will take, with the systems `beside` it, from similar runs. Nothing is started."""
        return await asking.estimate(data.to_query(), data.beside)

    @post("/suggestions", status_code=200, opt=needs(AccessScope.RUNS_WRITE), responses=problem_responses(400))
    async def suggest(self, data: JSONBody[NewRun], suggestions: SuggestionsService) -> SuggestedCollections:
        """Find the collections of your organisation that a run of this question would search besides the default one."""
        query = data.to_query()
        return SuggestedCollections(collections=await suggestions.find(query) if data.takes_suggestions else ())

    @post("/clarifications", opt=needs(AccessScope.RUNS_WRITE), responses=problem_responses(400))
    async def clarify(self, data: JSONBody[NewRun], asking: AskingService) -> Clarifications:
        """Ask the reader at most three questions back, often none. Answers go into `clarified` of the run."""
        kept = await asking.draft(DraftKind.CLARIFICATION, data.to_query())
        return Clarifications(questions=kept.draft.questions, model=kept.draft.model, usage=kept.draft.usage)

    @post("/rubrics", opt=needs(AccessScope.RUNS_WRITE), responses=problem_responses(400))
    async def draft_rubric(self, data: JSONBody[NewRun], asking: AskingService) -> DraftedRubric:
        """Draft a rubric for this question; edit it and give it to the run as `rubric`."""
        kept = await asking.draft(DraftKind.RUBRIC, data.to_query())
        assert kept.draft.rubric is not None
        return DraftedRubric(id=kept.id, rubric=kept.draft.rubric, usage=kept.draft.usage)

    @get("/runs/{run_id:uuid}/rubric", responses=problem_responses(404))
    async def show_rubric(self, run_id: RunId, asking: AskingService) -> RubricView:
        """Return the rubric that the run's report is held to, and its draft."""
        return RubricView.of(await asking.get_rubric(run_id))

    @put("/runs/{run_id:uuid}/rubric", opt=needs(AccessScope.RUNS_WRITE), responses=problem_responses(400, 404, 409))
    async def edit_rubric(self, run_id: RunId, data: JSONBody[EditedRubric], asking: AskingService) -> RubricView:
        """Replace the rubric, until the report is being written. The draft is kept beside it."""
        return RubricView.of(await asking.edit_rubric(run_id, data.criteria))

    @get("/runs/{run_id:uuid}/scorecard", responses=problem_responses(404))
    async def scorecard(self, run_id: RunId, asking: AskingService, principal: CurrentPrincipal) -> Scorecard:
        """Return how well the report meets its rubric. A criterion that nobody could judge has no score, and says why.

        Who may not read reports, or what this one was written from, gets scores without reasons and sentences.
        """
        card = await asking.get_scorecard(run_id)
        return card if AccessScope.REPORTS_READ in principal.scopes else card.without_words()
