"""Routes to compare two reports over the same evidence, blind."""

from typing import Annotated
from uuid import UUID

from litestar import Controller, Response, get, post
from litestar.params import FromPath, JSONBody, QueryParameter
from pydantic import ValidationError

from app.accounts.nouns.access import AccessScope
from app.comparisons.schemas import (
    ChoiceView,
    ComparisonPage,
    ComparisonView,
    NewChoice,
    NewComparison,
    Reveal,
    choice_view_of,
    item_of,
    reveal_of,
    view_of,
)
from app.database.engine import forbid_repetition
from app.domain.errors import InvalidInput
from app.http.authentication import needs
from app.http.dependencies import CurrentPrincipal, OperationService, PreferencesService
from app.http.openapi.responses import problem_responses
from app.preferences.nouns.feedback import Choice

PAGE_SIZE = 20
ComparisonId = FromPath[UUID]


class ComparisonsController(Controller):
    """A comparison is made once; every reader sees it in an order of their own and has one choice."""

    path = "/v1/comparisons"
    tags = ("preferences",)
    opt = needs(AccessScope.PREFERENCES_READ)

    @post(opt=needs(AccessScope.PREFERENCES_WRITE), responses=problem_responses(400, 403, 404, 409))
    async def create(
        self,
        data: JSONBody[NewComparison],
        preferences: PreferencesService,
        operation: OperationService,
        principal: CurrentPrincipal,
    ) -> Response[ComparisonView]:
        """Request a second report over a completed run's evidence. Ask again until the comparison is `ready`."""
        served = await operation.list_offered(principal)
        made = await preferences.comparisons.create(data.run_id, data.writer, principal.user_id, served)
        with forbid_repetition(f"comparison {made.id} is stored"):
            shown = await preferences.comparisons.show(made.id, principal.user_id)
        return Response(view_of(shown), headers={"Location": f"/v1/comparisons/{made.id}"})

    @get(responses=problem_responses(400))
    async def list_comparisons(
        self,
        preferences: PreferencesService,
        principal: CurrentPrincipal,
        run_id: Annotated[UUID | None, QueryParameter(description="Only comparisons of this run's report.")] = None,
        limit: Annotated[int, QueryParameter(ge=1, le=100, description="How many at most.")] = PAGE_SIZE,
        before: Annotated[UUID | None, QueryParameter(description="Only comparisons older than this one.")] = None,
    ) -> ComparisonPage:
        """List the organisation's comparisons, newest first."""
        found = await preferences.comparisons.list_page(principal.user_id, run_id, before, limit + 1)
        items = [item_of(comparison) for comparison in found[:limit]]
        return ComparisonPage(items=items, next=items[-1].id if len(found) > limit else None)

    @get("/{comparison_id:uuid}", responses=problem_responses(404))
    async def show(
        self, comparison_id: ComparisonId, preferences: PreferencesService, principal: CurrentPrincipal
    ) -> ComparisonView:
        """Return both reports, blind, in an order drawn once for each reader. The first look starts the clock of the choice."""
        return view_of(await preferences.comparisons.show(comparison_id, principal.user_id))

    @post(
        "/{comparison_id:uuid}/choice", opt=needs(AccessScope.PREFERENCES_WRITE), responses=problem_responses(400, 403, 404, 409)
    )
    async def choose(
        self,
        comparison_id: ComparisonId,
        data: JSONBody[NewChoice],
        preferences: PreferencesService,
        principal: CurrentPrincipal,
    ) -> ChoiceView:
        """Choose, or change the choice: within 30 minutes, and until it is revealed which report was which."""
        return choice_view_of(await preferences.comparisons.choose(comparison_id, choice_of(data), principal.user_id))

    @post("/{comparison_id:uuid}/reveal", opt=needs(AccessScope.PREFERENCES_WRITE), responses=problem_responses(403, 404, 409))
    async def reveal(self, comparison_id: ComparisonId, preferences: PreferencesService, principal: CurrentPrincipal) -> Reveal:
        """Reveal which report was which. The choice is then final; a second report you asked for and prefer becomes current."""
        may_change = AccessScope.REPORTS_WRITE in principal.scopes
        return reveal_of(*await preferences.comparisons.reveal(comparison_id, principal.user_id, adopt=may_change))


def choice_of(data: NewChoice) -> Choice:
    """Return the choice as the domain's noun.

    Raises:
        InvalidInput: its parts contradict each other; the message says how.
    """
    try:
        return data.to_choice()
    except ValidationError as error:
        raise InvalidInput("; ".join(detail["msg"].removeprefix("Value error, ") for detail in error.errors())) from error
