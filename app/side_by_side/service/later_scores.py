"""Judge reports that were asked without a rubric: one rubric for all systems side by side, after they have ended."""

import logging
from uuid import UUID, uuid4

from app.asking.service.asking import Asking
from app.asking.storage import rubrics
from app.database.engine import Database
from app.domain.errors import Conflict, Unavailable
from app.domain.revision import TaskKind, TaskRequest
from app.domain.run import RunStatus
from app.reports.storage import report_tasks, versions
from app.runs.nouns import AgreedRubric
from app.runs.service.gateway import RunGateway
from app.runs.service.runs import Admit
from app.runs.storage import runs
from app.side_by_side.service.side_by_side import SideBySide, SideBySides

log = logging.getLogger(__name__)


class LaterScores:
    """The use case of judging finished reports by a rubric. The reports do not change: they are not revised for their faults.

    `admit` raises when the caller may not spend anything more.

    Raises:
        TooManyRequests: the month's quota is used up.
        NotFound: no such run.
        Unavailable: the database, or for a draft the workers, do not answer.
    """

    def __init__(
        self,
        database: Database,
        gateway: RunGateway,
        asking: Asking,
        side_by_side: SideBySides,
        admit: Admit | None = None,
    ) -> None:
        self._database = database
        self._admit = admit
        self._gateway = gateway
        self._asking = asking
        self._side_by_side = side_by_side

    async def judge(self, run_id: UUID, given: AgreedRubric | None) -> SideBySide:
        """Judge every finished report beside this run, its own included, that has no scorecard.

        The rubric is the one that the runs have, or `given`, or else one that is drafted once for all of them. Each run pays for
        its own judging; where its budget is used up, its column says so.

        Raises:
            Conflict: a run is under way, there is nothing to judge, or a rubric was given and the runs have one.
        """
        shown = await self._side_by_side.show(run_id)
        if any(not column.run.status.finished for column in shown.columns):
            raise Conflict("a run of this question is under way; judge the reports once all have ended")
        left = [c.run.id for c in shown.columns if c.run.status is RunStatus.COMPLETED and not c.scorecard and not c.judging]
        if not left:
            raise Conflict("there is no finished report without a scorecard, or it is being judged")
        agreed = await self._agree(shown, given)
        for judged, task in await self._store_tasks(shown, left, agreed):
            try:
                await self._gateway.start_task(judged, task)
            except Unavailable as error:
                log.warning("task %s of run %s is stored but not started: %s", task, judged, error)
        return await self._side_by_side.show(run_id)

    async def _agree(self, shown: SideBySide, given: AgreedRubric | None) -> AgreedRubric:
        if shown.rubric is None:
            return given or await self._asking.draft_and_agree(shown.first.query)
        if given is not None:
            raise Conflict("these runs have a rubric already; all are held to the same one")
        return AgreedRubric(shown.rubric, shown.rubric)

    async def _store_tasks(self, shown: SideBySide, left: list[UUID], agreed: AgreedRubric) -> list[tuple[UUID, UUID]]:
        """Store the rubric of each run and the tasks, all or none."""
        tasks = [(run_id, uuid4()) for run_id in left]
        async with self._database.acquire() as connection:
            if self._admit is not None:
                await self._admit(connection)
            await runs.lock(connection, shown.first.id)
            for column in shown.columns:
                if await rubrics.get(connection, column.run.id) is None:
                    await rubrics.add(connection, column.run.id, agreed.rubric, agreed.drafted)
            for run_id, task_id in tasks:
                base = await versions.get_latest(connection, run_id)
                await report_tasks.add(connection, run_id, task_id, TaskRequest(kind=TaskKind.SCORE, base=base))
        return tasks
