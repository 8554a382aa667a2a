"""Store stars, flagged claims and consent."""

from collections.abc import Sequence
from uuid import UUID

from app.accounts.nouns.access import AccessScope, Principal
from app.audit import storage as audit
from app.audit.storage import Action
from app.database.engine import Database
from app.domain.errors import Conflict, Forbidden, NotFound
from app.domain.revision import DELIVERED
from app.preferences.nouns.feedback import ClaimFlag, Consent, Rating
from app.preferences.storage import feedback
from app.preferences.storage.feedback import StoredFlag, StoredRating
from app.runs.service.runs import Runs


class Feedback:
    """The use cases of what a reader says about one report, and of consent.

    Raises:
        NotFound: no such run, report or claim.
        Unavailable: the database does not answer.
    """

    def __init__(self, database: Database, runs: Runs) -> None:
        self._database = database
        self._runs = runs

    async def rate(self, run_id: UUID, rating: Rating, user_id: UUID, version: int | None = None) -> StoredRating:
        """Store or change the reader's stars for the report as delivered. `version` is the one they read, by default the newest.

        Raises:
            Conflict: they read another version, whose words the stars would not be about.
        """
        read = await self._get_version(run_id, version)
        if read != DELIVERED:
            raise Conflict(f"stars are for the report as it was delivered, and version {read} is a change of it; name version 1")
        stored = await feedback.rate(self._database, run_id, user_id, rating)
        if stored is None:
            await self._raise_why_missing(run_id)
        assert stored is not None
        return stored

    async def get_rating(self, run_id: UUID, user_id: UUID) -> StoredRating:
        """Return the reader's stars."""
        await self._runs.get(run_id)
        stored = await feedback.get_rating(self._database, run_id, user_id)
        if stored is None:
            raise NotFound(f"you have not rated the report of run {run_id}")
        return stored

    async def flag(self, run_id: UUID, flagged: ClaimFlag, user_id: UUID, version: int | None = None) -> StoredFlag:
        """Flag a claim as wrong, or change the reason. Its number counts in `version`, by default the newest.

        Raises:
            NotFound: there is no such claim, or it is not in the report as delivered.
        """
        read = await self._get_version(run_id, version)
        stored = await feedback.flag(self._database, run_id, user_id, flagged, read)
        if stored is None:
            where = "" if read == DELIVERED else f" in version {read} that it had when it was delivered"
            await self._raise_why_missing(run_id, f"the report of run {run_id} has no claim {flagged.claim}{where}")
        assert stored is not None
        return stored

    async def unflag(self, run_id: UUID, claim: int, user_id: UUID) -> None:
        """Take a flag back."""
        if not await feedback.unflag(self._database, run_id, user_id, claim):
            raise NotFound(f"you have not flagged claim {claim} of run {run_id}")

    async def list_flags(self, run_id: UUID, user_id: UUID) -> Sequence[StoredFlag]:
        """Return the reader's flags in a run's report."""
        await self._runs.get(run_id)
        return await feedback.list_flags(self._database, run_id, user_id)

    async def get_consent(self, principal: Principal) -> Consent:
        """Return what this person and their organisation agree to now."""
        return await feedback.get_consent(self._database, principal.organisation_id, principal.user_id)

    async def set_consent(self, principal: Principal, person: bool | None, organisation: bool | None) -> Consent:
        """Give or take back consent; None leaves it. The next export leaves out what is taken back.

        Raises:
            Forbidden: only an owner speaks for the organisation.
        """
        if organisation is not None:
            if AccessScope.ORGANISATION_WRITE not in principal.scopes:
                raise Forbidden("only an owner of your organisation can decide for it")
            async with self._database.acquire() as connection:
                here = principal.organisation_id
                await feedback.set_organisation_consent(connection, here, principal.user_id, organisation)
                await audit.record(connection, Action.CONSENT_CHANGED, "organisation", {"given": str(organisation).lower()})
        if person is not None:
            await feedback.set_own_consent(self._database, principal.user_id, person)
        return await self.get_consent(principal)

    async def _get_version(self, run_id: UUID, version: int | None) -> int:
        if version is not None:
            return version
        _, newest = await self._runs.get_run_and_report(run_id)
        return newest.version

    async def _raise_why_missing(self, run_id: UUID, otherwise: str = "") -> None:
        """Raise the reason why nothing was stored: no such run, no report of it, or `otherwise`."""
        await self._runs.get_report(run_id)
        raise NotFound(otherwise or f"run {run_id} has no report")
