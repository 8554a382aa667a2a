"""Routes of the way of writing that an organisation's readers prefer, and of its default."""

from litestar import Controller, get, put
from litestar.params import JSONBody

from app.accounts.nouns.access import AccessScope
from app.domain.writer import WriterSettings
from app.http.authentication import needs
from app.http.dependencies import CurrentPrincipal, OperationService, PreferencesService
from app.http.openapi.responses import problem_responses
from app.preferences.schemas.summary import ContestView, Summary, WayList, WayView
from app.preferences.service.contests import Standing


class PreferencesController(Controller):
    """Routes of the ways of writing: which one wins, and which one is the default."""

    path = "/v1/preferences"
    tags = ("preferences",)
    opt = needs(AccessScope.PREFERENCES_READ)

    @get("/summary", responses=problem_responses())
    async def summary(self, preferences: PreferencesService) -> Summary:
        """Return which way of writing your organisation's readers prefer, and how sure that is."""
        standings, default = await preferences.winners.get_standings()
        return Summary(contests=[_contest_of(standing) for standing in standings], default=default)

    @get("/ways", responses=problem_responses())
    async def ways(self, preferences: PreferencesService, operation: OperationService, principal: CurrentPrincipal) -> WayList:
        """List the ways in which a second report can be written here; for the operator's people with all served models."""
        offers = preferences.offers.with_served(await operation.list_offered(principal))
        return WayList(items=[WayView(name=way.name, writer=way.writer) for way in offers.list_ways()])

    @put("/default", opt=needs(AccessScope.TEAM_WRITE), responses=problem_responses(400, 403))
    async def set_default(
        self, data: JSONBody[WriterSettings], preferences: PreferencesService, principal: CurrentPrincipal
    ) -> WriterSettings:
        """Set how your organisation's later reports are written, unless a run says otherwise."""
        return await preferences.winners.set_default(data, principal.user_id)


def _contest_of(standing: Standing) -> ContestView:
    won = standing.won
    return ContestView(
        first=standing.contest.first,
        second=standing.contest.second,
        wins=standing.contest.wins,
        losses=standing.contest.losses,
        ties=standing.contest.ties - standing.both_bad,
        both_bad=standing.both_bad,
        readers=standing.readers,
        won=won.rate if won else None,
        low=won.low if won else None,
        high=won.high if won else None,
        settled=standing.settled,
    )
