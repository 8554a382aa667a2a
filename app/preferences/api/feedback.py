"""Routes of what a reader says about one report, and of consent to training."""

from typing import Annotated

from litestar import Controller, delete, get, post, put
from litestar.params import JSONBody, PathParameter

from app.accounts.nouns.access import AccessScope
from app.http.authentication import needs
from app.http.dependencies import CurrentPrincipal, PreferencesService, RunId
from app.http.openapi.responses import problem_responses
from app.preferences.nouns.feedback import ClaimFlag, Consent, Rating
from app.preferences.schemas.feedback import ConsentChange, ConsentView, FlagList, FlagView, NewFlag, NewRating, RatingView
from app.preferences.storage.feedback import StoredFlag, StoredRating

MOST_CLAIMS = 100_000
ClaimNumber = Annotated[int, PathParameter(ge=0, lt=MOST_CLAIMS, description="Counts the claims of the report from 0.")]


class FeedbackController(Controller):
    """Routes of stars, flagged claims and consent."""

    path = "/v1"
    tags = ("preferences",)
    opt = needs(AccessScope.PREFERENCES_WRITE)

    @post("/runs/{run_id:uuid}/rating", status_code=200, responses=problem_responses(400, 403, 404, 409))
    async def rate(
        self, run_id: RunId, data: JSONBody[NewRating], preferences: PreferencesService, principal: CurrentPrincipal
    ) -> RatingView:
        """Rate the run's report as it was delivered; a second time changes the rating."""
        given = Rating(**data.model_dump(exclude={"version"}))
        return _rating_view_of(await preferences.feedback.rate(run_id, given, principal.user_id, data.version))

    @get("/runs/{run_id:uuid}/rating", opt=needs(AccessScope.PREFERENCES_READ), responses=problem_responses(404))
    async def rating(self, run_id: RunId, preferences: PreferencesService, principal: CurrentPrincipal) -> RatingView:
        """Return your own rating of the run's report."""
        return _rating_view_of(await preferences.feedback.get_rating(run_id, principal.user_id))

    @post("/runs/{run_id:uuid}/claims/{claim:int}/flag", status_code=200, responses=problem_responses(400, 403, 404))
    async def flag(
        self,
        run_id: RunId,
        claim: ClaimNumber,
        data: JSONBody[NewFlag],
        preferences: PreferencesService,
        principal: CurrentPrincipal,
    ) -> FlagView:
        """Flag a claim as wrong, and say why; a second time changes the reason. The answer has the delivered claim's number."""
        flagged = ClaimFlag(claim=claim, reason=data.reason)
        return _flag_view_of(await preferences.feedback.flag(run_id, flagged, principal.user_id, data.version))

    @delete("/runs/{run_id:uuid}/claims/{claim:int}/flag", responses=problem_responses(403, 404))
    async def unflag(
        self, run_id: RunId, claim: ClaimNumber, preferences: PreferencesService, principal: CurrentPrincipal
    ) -> None:
        """Take a flag back."""
        await preferences.feedback.unflag(run_id, claim, principal.user_id)

    @get("/runs/{run_id:uuid}/flags", opt=needs(AccessScope.PREFERENCES_READ), responses=problem_responses(404))
    async def flags(self, run_id: RunId, preferences: PreferencesService, principal: CurrentPrincipal) -> FlagList:
        """List your own flags in the run's report."""
        return FlagList(
            items=[_flag_view_of(stored) for stored in await preferences.feedback.list_flags(run_id, principal.user_id)]
        )

    @get("/consent", opt=needs(AccessScope.ACCOUNT_READ), responses=problem_responses())
    async def consent(self, preferences: PreferencesService, principal: CurrentPrincipal) -> ConsentView:
        """Return whether your data may go into training. It may only when both you and your organisation turned it on."""
        return _consent_view_of(await preferences.feedback.get_consent(principal))

    @put("/consent", opt=needs(AccessScope.ACCOUNT_WRITE), responses=problem_responses(400, 403))
    async def set_consent(
        self, data: JSONBody[ConsentChange], preferences: PreferencesService, principal: CurrentPrincipal
    ) -> ConsentView:
        """Give or take back consent. Every later export leaves out what is taken back."""
        return _consent_view_of(await preferences.feedback.set_consent(principal, data.person, data.organisation))


def _rating_view_of(stored: StoredRating) -> RatingView:
    return RatingView(stars=stored.rating.stars, comment=stored.rating.comment, made_at=stored.made_at)


def _flag_view_of(stored: StoredFlag) -> FlagView:
    return FlagView(claim=stored.flag.claim, text=stored.claim_text, reason=stored.flag.reason, made_at=stored.made_at)


def _consent_view_of(consent: Consent) -> ConsentView:
    return ConsentView(given=consent.given, **consent.model_dump())
