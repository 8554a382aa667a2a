"""Show one question worked by several systems on the same evidence: their reports, scorecards, and consumption."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from app.asking.storage import rubrics
from app.comparisons.storage import comparisons
from app.database.engine import Database, Executor
from app.domain.errors import Conflict, InvalidInput, NotFound
from app.domain.evidence import Finding
from app.domain.interactions import Interactions, interactions_of
from app.domain.query import SystemName
from app.domain.revision import TaskStatus
from app.domain.rubric import Rubric
from app.domain.run import Run, RunStatus
from app.domain.scorecard import Scorecard
from app.reports.storage import report_tasks
from app.runs.nouns import AgreedRubric
from app.runs.service.runs import Runs
from app.runs.storage import evidence, runs

GIVEN_UP = (RunStatus.FAILED, RunStatus.CANCELLED)
ORDER = tuple(SystemName)


class SystemColumn(NamedTuple):
    """One system's run. `interactions` exist once a search of it has ended, the card once its report was judged.

    `judging`: the report is being judged afterwards; `unjudged` says why that failed.
    """

    run: Run
    interactions: Interactions | None
    scorecard: Scorecard | None
    judging: bool = False
    unjudged: str = ""


class SideBySide(NamedTuple):
    """The runs of one question, the one that the others stand beside first; `rubric` is the one that all are held to, if any."""

    first: Run
    rubric: Rubric | None
    columns: Sequence[SystemColumn]


class SideBySides:
    """The use cases of systems side by side. Their runs share the first one's tool memory: the same call has the same result.

    Raises:
        NotFound: no such run, or it writes the second report of a comparison.
        Unavailable: the database does not answer.
    """

    def __init__(self, database: Database, runs: Runs) -> None:
        self._database = database
        self._runs = runs

    async def show(self, run_id: UUID) -> SideBySide:
        """Return all runs that stand beside this one, itself included.

        Who may not read what a run gathered learns neither its turns nor why its report was judged so.
        """
        members = await self._list_members(self._database, await self._find_shared(run_id))
        stored = await rubrics.get(self._database, members[0].id)
        return SideBySide(members[0], stored.rubric if stored else None, [await self._column_of(run) for run in members])

    async def add(self, run_id: UUID, systems: Sequence[SystemName]) -> SideBySide:
        """Let other systems work the question of this run, with its options, on its evidence, held to its rubric.

        Raises:
            InvalidInput: a system is not available here, or is named twice.
            Conflict: a system works the question already, the run's rubric is not drafted yet, or the model refuses everything.
            TooManyRequests: a quota is reached; then none was started.
            Forbidden: the caller may not read that evidence.
        """
        if len(set(systems)) != len(systems):
            raise InvalidInput("name each system once")
        shared = await self._find_shared(run_id)
        await self._runs.require_evidence(run_id)
        first = (await self._list_members(self._database, shared))[0]
        agreed = await self._get_agreed(first)
        queries = [first.query.without_writing().for_system(system, shared) for system in systems]

        async def check(connection: Executor) -> None:
            await runs.lock(connection, first.id)
            taken = {run.query.system for run in await self._list_members(connection, shared) if run.status not in GIVEN_UP}
            if twice := [system.value for system in systems if system in taken]:
                raise Conflict(f"{', '.join(twice)} works this question already; look at it beside run {first.id}")

        await self._runs.create_all(queries, agreed=agreed, check=check)
        return await self.show(first.id)

    async def _find_shared(self, run_id: UUID) -> UUID:
        """Return the run whose tool memory is shared. It may be deleted: runs are kept as long as their organisation wants."""
        run = await self._runs.get(run_id)
        return run.query.evidence_of or run.id

    async def _get_agreed(self, first: Run) -> AgreedRubric | None:
        if not first.query.rubric:
            return None
        stored = await rubrics.get(self._database, first.id)
        if stored is None:
            raise Conflict(f"the rubric of run {first.id} is not drafted yet; add systems once its plan is made")
        return AgreedRubric(stored.rubric, stored.drafted)

    async def _list_members(self, database: Executor, shared: UUID) -> list[Run]:
        """Return all runs that share it; its owner first, or where that is deleted the oldest."""
        found = await runs.list_beside(database, shared)
        if not found:
            raise NotFound(f"run {shared} writes a second report to be compared; no system works beside it")
        return sorted(found, key=lambda run: (run.id != shared, run.created_at, ORDER.index(run.query.system)))

    async def _column_of(self, run: Run) -> SystemColumn:
        searches = await comparisons.list_searches(self._database, run.id)
        findings = [Finding.of_any_version(body) for body in searches.values()]
        card = await rubrics.get_scorecard(self._database, run.id)
        if card is not None and not await evidence.may_read(self._database, run.id):
            card = card.without_words()
        later = await report_tasks.find_last_scoring(self._database, run.id) if card is None else None
        judging = later is not None and later.status is TaskStatus.QUEUED
        return SystemColumn(run, interactions_of(findings) if findings else None, card, judging, later.detail if later else "")
