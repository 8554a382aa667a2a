"""Compare reports: a second report over the same evidence, both shown blind, a choice, then which was which."""

import logging
import secrets
from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import NamedTuple
from uuid import UUID

from app.comparisons.service.candidates import SAME, CandidateSource, candidate_of, find_obstacle
from app.comparisons.service.offers import Offers
from app.comparisons.service.second_reports import plan_second_report
from app.comparisons.storage import choices, comparisons
from app.comparisons.storage.comparisons import Candidate, Comparison
from app.database.engine import Database, forbid_repetition
from app.domain.errors import Conflict, InvalidInput, NotFound, Unavailable
from app.domain.run import Run, RunStatus
from app.domain.writer import WriterSettings
from app.preferences.nouns.feedback import CandidatePlace, Choice, ComparisonStatus, StoredChoice, Viewing
from app.preferences.storage import annotations
from app.runs.service.runs import Runs
from app.runs.service.steering import Steering
from app.runs.storage.run_log import RunLog

CHANGEABLE_FOR = timedelta(minutes=30)
"""The time for which a choice may be changed, unless its reader is told earlier which report was which."""
STUCK_STATUSES = (RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.BUDGET_REACHED)

log = logging.getLogger(__name__)


class ShownComparison(NamedTuple):
    """A comparison as one reader sees it; `viewing` and both candidates are set once it is ready."""

    comparison: Comparison
    status: ComparisonStatus
    viewing: Viewing | None = None
    candidates: Mapping[CandidatePlace, Candidate] = MappingProxyType({})
    choice: StoredChoice | None = None


def status_of(comparison: Comparison) -> ComparisonStatus:
    """Return the comparison's status, as far as it is stored."""
    if comparison.failure:
        return ComparisonStatus.SAME if comparison.failure == SAME else ComparisonStatus.FAILED
    return ComparisonStatus.READY if comparison.ready else ComparisonStatus.PREPARING


class Comparisons:
    """The use cases of comparing. `offers` are the models and ways available here; None: only a try shows them.

    The database shows a comparison to those who may read the evidence of both reports.

    Raises:
        NotFound: no such run or comparison.
        Unavailable: the database does not answer.
    """

    def __init__(self, database: Database, runs: Runs, steering: Steering, offers: Offers | None = None) -> None:
        self._database = database
        self._runs = runs
        self._steering = steering
        self._offers = offers

    async def create(self, run_id: UUID, writer: WriterSettings, user_id: UUID, served: Sequence[str] = ()) -> Comparison:
        """Request a second report over the evidence of a finished run. Its cost is in a ledger of its own.

        `served` are the models that the caller may name besides those of the settings.

        Raises:
            Conflict: the run has no report yet.
            InvalidInput: nothing would differ, or this installation cannot write in this way.
            TooManyRequests: the second report is a run, and a quota is reached.
            Forbidden: the caller may not read that evidence.
        """
        if self._offers is not None:
            self._offers.with_served(served).check(writer)
        run = await self._runs.get(run_id)
        await self._runs.require_evidence(run_id)
        start = await RunLog(self._database).load(run_id)
        if run.status is not RunStatus.COMPLETED or start.plan is None:
            raise Conflict(f"run {run_id} is {run.status}; only a completed run has a report to compare")
        if writer == run.query.writer:
            raise InvalidInput(
                "nothing would differ: name another model, temperature, prompt version, composition or arrangement"
            )
        stored = await comparisons.list_searches(self._database, run_id)
        new, lost = plan_second_report(start, start.query.model_copy(update={"writer": writer}), stored, user_id)
        async with self._database.acquire() as connection:
            await self._runs.admit(connection)
            await comparisons.create(connection, new, lost)
        await self._start(new.made_run_id)
        with forbid_repetition(f"comparison {new.id} is stored"):
            return await self._get(new.id, user_id)

    async def show(self, id_: UUID, user_id: UUID) -> ShownComparison:
        """Return the comparison as this reader sees it. The first look at two reports starts the clock of the choice."""
        comparison = await self.prepare(id_, user_id)
        if comparison.failure:
            return ShownComparison(comparison, status_of(comparison))
        if not comparison.ready:
            return ShownComparison(comparison, ComparisonStatus.PREPARING)
        await comparisons.note_view(self._database, id_, user_id, secrets.choice(tuple(CandidatePlace)))
        viewing = await comparisons.get_viewing(self._database, id_, user_id)
        found = await comparisons.get_candidates(self._database, id_)
        choice = await choices.get(self._database, id_, user_id)
        return ShownComparison(comparison, ComparisonStatus.READY, viewing, found, choice)

    async def prepare(self, id_: UUID, user_id: UUID) -> Comparison:
        """Return the comparison; store both reports once the second one is written. This does not count as a look."""
        comparison = await self._get(id_, user_id)
        return comparison if comparison.ready or comparison.failure else await self._prepare_candidates(comparison, user_id)

    async def list_page(self, user_id: UUID, run_id: UUID | None, before: UUID | None, limit: int) -> Sequence[Comparison]:
        """Return up to `limit` comparisons, newest first."""
        if before is not None and await comparisons.get(self._database, before, user_id) is None:
            raise InvalidInput(f"`before` names no comparison: {before}")
        return await comparisons.list_page(self._database, user_id, run_id, before, limit)

    async def choose(self, id_: UUID, choice: Choice, user_id: UUID) -> StoredChoice:
        """Store a reader's choice, or change it.

        Raises:
            Conflict: the reader has not looked yet, knows already which was which, or chose too long ago; or is to judge this
                pair as an annotator.
        """
        await self._check_unassigned(id_, user_id)
        return await self.store_choice(id_, choice, user_id)

    async def store_choice(self, id_: UUID, choice: Choice, user_id: UUID, *, annotation: bool = False) -> StoredChoice:
        """Store a choice of a reader or an annotator. Raises as `choose`."""
        viewing = await comparisons.get_viewing(self._database, id_, user_id)
        if viewing is None:
            await self._get(id_, user_id)
            raise Conflict("look at both reports first: the choice is timed from the first look")
        earlier = await choices.get(self._database, id_, user_id)
        if earlier is not None:
            choice = choice.model_copy(update={"hidden_seconds": earlier.choice.hidden_seconds})
        outcome = viewing.outcome_of(choice.verdict)
        stored = await choices.choose(self._database, id_, user_id, choice, outcome, annotation, CHANGEABLE_FOR)
        if stored is None:
            raise Conflict("this choice stands: it is too old to be changed, or you were told which report was which")
        return stored

    async def reveal(self, id_: UUID, user_id: UUID, adopt: bool = False) -> tuple[ShownComparison, int | None]:
        """Tell a reader who has chosen which report was which. The choice can no longer be changed.

        With `adopt`, where the reader asked for the comparison and prefers the second report, that becomes the run's current
        version; its number is returned too.

        Raises:
            Conflict: the reader has not chosen.
        """
        await self._check_unassigned(id_, user_id)
        await comparisons.reveal(self._database, id_, user_id)
        shown = await self.show(id_, user_id)
        if shown.viewing is None or shown.viewing.revealed_at is None:
            raise Conflict("choose first; which report was which is told after the choice")
        return shown, await comparisons.adopt(self._database, id_, user_id) if adopt else None

    async def _check_unassigned(self, id_: UUID, user_id: UUID) -> None:
        """Refuse annotators, who never learn which report was which: they judge more pairs of the same ways of writing."""
        if await annotations.is_assigned(self._database, id_, user_id):
            raise Conflict("you judge this pair as an annotator: answer your assignment; which report was which is not told")

    async def _prepare_candidates(self, comparison: Comparison, user_id: UUID) -> Comparison:
        """Return the comparison again, with both reports stored once the second is written."""
        made = await self._runs.get(comparison.made_run_id)
        if _is_stuck(made):
            if not made.status.finished:
                await self._steering.cancel(made.id)
            await comparisons.fail(self._database, comparison.id, _explain_stuck(made))
        elif made.status is RunStatus.COMPLETED:
            await self._keep(comparison, await self._runs.get(comparison.run_id), made)
        else:
            return comparison
        return await self._get(comparison.id, user_id)

    async def _keep(self, comparison: Comparison, delivered: Run, made: Run) -> None:
        first = await comparisons.get_written(self._database, delivered.id)
        second = await comparisons.get_written(self._database, made.id)
        if first is None or second is None:
            await comparisons.fail(self._database, comparison.id, "a report is no longer there")
            return
        both = (
            candidate_of(CandidateSource(CandidatePlace.DELIVERED, delivered, first)),
            candidate_of(CandidateSource(CandidatePlace.ALTERNATIVE, made, second)),
        )
        if why := find_obstacle(made.query, *both, second.model_calls):
            await comparisons.fail(self._database, comparison.id, why)
        else:
            await comparisons.keep(self._database, comparison.id, both, [first.report, second.report])

    async def _start(self, run_id: UUID) -> None:
        try:
            await self._runs.start(await RunLog(self._database).load(run_id))
        except Unavailable as error:
            log.warning("run %s is stored but not started: %s", run_id, error)

    async def _get(self, id_: UUID, user_id: UUID) -> Comparison:
        found = await comparisons.get(self._database, id_, user_id)
        if found is None:
            raise NotFound(f"there is no comparison {id_}")
        return found


def _is_stuck(run: Run) -> bool:
    """Return True if the run goes on for nobody: the lists show it to no person who could resume it."""
    return run.status in STUCK_STATUSES or (run.status is RunStatus.PAUSED and run.reason is not None)


def _explain_stuck(run: Run) -> str:
    if run.status is RunStatus.BUDGET_REACHED:
        return "the second report reached the run's budget; raise it and compare again"
    return f"the second report was not written: {run.detail or run.status.value}"
