"""Read, compare, edit and restore versions of a report; ask questions about its evidence."""

import logging
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import TypeAlias
from uuid import UUID, uuid4

from app.database.engine import Database, Executor, forbid_repetition, translate_outages
from app.domain.citations import KEY_MARKER, MARKER
from app.domain.code import hide_code
from app.domain.errors import BudgetReached, Conflict, InvalidInput, NotFound, Unavailable
from app.domain.report import Report
from app.domain.revision import DELIVERED, LONGEST_QUESTION, ReportTask, TaskKind, TaskRequest, VersionInfo
from app.domain.run import RunStatus
from app.reports.rendering.numbering import LOOKS_CITED, number_citations
from app.reports.service.revisions.differences import ReportDiff, compare_reports
from app.reports.storage import report_tasks, versions
from app.runs.service.gateway import RunGateway
from app.runs.service.runs import Admit, Runs

Keep: TypeAlias = Callable[[Executor, UUID], Awaitable[None]]
LEFT_BEHIND, TRY_AGAIN = timedelta(seconds=15), timedelta(minutes=2)
BATCH = 100
log = logging.getLogger(__name__)
_HEADING = re.compile(r"^ {0,3}#{1,6}\s", re.MULTILINE)
# Renderings put marks behind sentences: they are not the reader's words, and are added again with each rendering.
_MARKS = re.compile("[†‡¶◦△]")


class ReportRevisions:
    """The use cases around finished reports. A change is a task of a worker, which judges the claims anew.

    `admit` raises when the caller may not spend anything more. A reader's own words cost nothing, so it is not asked about them.

    Raises:
        TooManyRequests: the month's quota is used up.
        BudgetReached: the run, which is billed, has nothing left.
        NotFound: no such run, report, version, section or task.
        Conflict: the report is not in a state that allows this, or has changed meanwhile.
        Forbidden: this would write from evidence that the caller may not read.
        Unavailable: the database does not answer.
    """

    def __init__(self, database: Database, gateway: RunGateway, runs: Runs, admit: Admit | None = None) -> None:
        self._database = database
        self._gateway = gateway
        self._runs = runs
        self._admit = admit
        self._tried: dict[UUID, float] = {}

    async def list_versions(self, run_id: UUID) -> Sequence[VersionInfo]:
        """List all versions, newest first."""
        await self._runs.get_report(run_id)
        return await versions.list_all(self._database, run_id)

    async def diff(self, run_id: UUID, old: int, new: int) -> ReportDiff:
        """Return the changes from one version to the other, by section and word."""
        before, after = [await self._get_report(run_id, n) for n in (old, new)]
        return compare_reports(before, after)

    async def edit(self, run_id: UUID, section: int, heading: str, body: str, expected: int | None) -> ReportTask:
        """Replace a section by a reader's own words; `[n]` in them cites the source that the base version has under n.

        Raises:
            InvalidInput: the text cites a number that the report does not have, or has headings.
        """
        base, report = await self._get_base(run_id, section, expected)
        told = TaskRequest(kind=TaskKind.EDIT, base=base, section=section, heading=heading, body=insert_keys(body, report))
        return await self._begin_task(run_id, told)

    async def rewrite(self, run_id: UUID, section: int, deepen: bool, wish: str, expected: int | None) -> ReportTask:
        """Write a section anew from the same evidence, or deepen it with more of that evidence."""
        base, _ = await self._get_base(run_id, section, expected)
        await self._runs.require_evidence(run_id)
        await self._check_spending(run_id)
        kind = TaskKind.DEEPEN if deepen else TaskKind.REWRITE
        return await self._begin_task(run_id, TaskRequest(kind=kind, base=base, section=section, text=wish))

    async def ask(self, run_id: UUID, question: str, keep: Keep | None = None) -> ReportTask:
        """Ask the evidence of a run a question; nothing new is searched.

        `keep` is called with the question's id in the transaction that stores it.

        Raises:
            InvalidInput: the question is empty or too long.
        """
        question = _check_question(question)
        await self._runs.get_report(run_id)
        await self._runs.require_evidence(run_id)
        await self._check_spending(run_id)
        return await self._begin_task(run_id, TaskRequest(kind=TaskKind.QUESTION, base=DELIVERED, text=question), keep)

    async def revert(self, run_id: UUID, to: int, expected: int | None) -> VersionInfo:
        """Make an old version the newest again, as a new version."""
        await self._get_report(run_id, to)
        base = await self._check_expected(run_id, expected)
        if await report_tasks.has_change_under_way(self._database, run_id, base):
            raise Conflict(f"a change of version {base} is under way; wait for it")
        await versions.revert(self._database, run_id, to, base + 1)
        return next(info for info in await self.list_versions(run_id) if info.n == base + 1)

    async def get_task(self, run_id: UUID, task_id: UUID) -> ReportTask:
        """Return a change or question as it stands."""
        found = await report_tasks.get(self._database, run_id, task_id)
        if found is None:
            raise NotFound(f"run {run_id} has no task {task_id}")
        return found

    async def find_question(self, task_id: UUID) -> ReportTask | None:
        """Return a further question by its own id, whatever run it was asked about."""
        return await report_tasks.find_question(self._database, task_id)

    async def list_tasks(self, run_id: UUID, questions: bool, limit: int, before: UUID | None) -> Sequence[ReportTask]:
        """Return questions, or else changes, newest first."""
        await self._runs.get(run_id)
        return await report_tasks.list_page(self._database, run_id, questions, limit, before)

    async def dispatch(self) -> int:
        """Start the tasks that may have lost their workflow, each at most every two minutes; return how many were started."""
        now = time.monotonic()
        self._tried = {task: when for task, when in self._tried.items() if now - when < TRY_AGAIN.total_seconds()}
        waiting = await report_tasks.list_left_behind(self._database, LEFT_BEHIND, BATCH)
        lost = [(run_id, task_id) for run_id, task_id in waiting if task_id not in self._tried]
        for run_id, task_id in lost:
            await self._gateway.start_task(run_id, task_id)
            self._tried[task_id] = now
        return len(lost)

    async def _check_spending(self, run_id: UUID) -> None:
        run = await self._runs.get(run_id)
        if run.budget.is_spent_by(run.usage):
            raise BudgetReached(f"run {run_id} has used up its budget, which pays for this; raise the budget, then ask again")
        if self._admit is not None:
            await self._admit(self._database)

    async def _begin_task(self, run_id: UUID, request: TaskRequest, keep: Keep | None = None) -> ReportTask:
        """Store the task, then start its workflow; if the workflow service does not answer, `dispatch` starts it later."""
        task_id = uuid4()
        async with translate_outages(), self._database.acquire() as connection:
            await report_tasks.add(connection, run_id, task_id, request)
            if keep is not None:
                await keep(connection, task_id)
        try:
            await self._gateway.start_task(run_id, task_id)
        except Unavailable as error:
            log.warning("task %s of run %s is stored but not started: %s", task_id, run_id, error)
        with forbid_repetition(f"task {task_id} of run {run_id} is stored"):
            return await self.get_task(run_id, task_id)

    async def _get_base(self, run_id: UUID, section: int, expected: int | None) -> tuple[int, Report]:
        """Return the newest version's number and its report, which must have this section."""
        base = await self._check_expected(run_id, expected)
        report = await self._get_report(run_id, base)
        if section >= len(report.sections):
            raise NotFound(f"version {base} has sections 0 to {len(report.sections) - 1}, and no section {section}")
        return base, report

    async def _check_expected(self, run_id: UUID, expected: int | None) -> int:
        """Return the newest version's number, which must be the one the reader has read."""
        run = await self._runs.get(run_id)
        if run.status is not RunStatus.COMPLETED:
            raise Conflict(f"run {run_id} is {run.status}; only the report of a completed run can be changed")
        newest = await versions.get_latest(self._database, run_id)
        if expected is not None and expected != newest:
            raise Conflict(f"you have version {expected}, and the newest is {newest}; read it and try again")
        return newest

    async def _get_report(self, run_id: UUID, n: int) -> Report:
        stored = await self._runs.get_report(run_id, n)
        return Report.of_any_version(stored.report)


def _check_question(text: str) -> str:
    text = text.strip()
    if not any(character.isalnum() for character in text):
        raise InvalidInput("the question is empty; write what you want to know")
    if len(text) > LONGEST_QUESTION:
        raise InvalidInput(f"the question has {len(text)} characters; a further question has at most {LONGEST_QUESTION}")
    return text


def insert_keys(body: str, report: Report) -> str:
    """Return the text with `[[key]]` for each `[n]`, but for those within code.

    Raises:
        InvalidInput: a number or key that the report does not have, or a heading.
    """
    if _HEADING.search(body):
        raise InvalidInput("the text of a section has no headings; its own is the field `heading`")
    keys = {citation.n: citation.quote.key for citation in number_citations(report).citations}
    known = {quote.key for quote in report.quotes}

    def key_of(match: re.Match[str]) -> str:
        n = int(match.group(1))
        if n not in keys:
            raise InvalidInput(f"there is no citation [{n}] in this report; its numbers go to {max(keys, default=0)}")
        return f"[[{keys[n]}]]"

    code = hide_code(_MARKS.sub("", body), KEY_MARKER)
    text = LOOKS_CITED.sub(key_of, code.text)
    if unknown := [key for key in MARKER.findall(text) if key.strip() not in known]:
        raise InvalidInput(f"[[{unknown[0]}]] is no citation of this report; cite by the numbers you see, as [3]")
    return code.put_back(text)
