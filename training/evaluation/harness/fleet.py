"""Answers from a fleet: the workers of a deployment run the system; this process stores and judges its reports.

The folder stays the truth of the evaluation. It names the fleet before the fleet is made, so that a command that is repeated
after a kill follows the same fleet. A new fleet asks the questions that an ended fleet left without an answer.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from app.database.engine import Executor
from app.domain.errors import NotFound
from app.domain.fleets import FleetEnd, FleetQuestion
from app.domain.query import Language, ResearchQuery
from app.domain.report import Report
from app.domain.run import RunStatus
from app.domain.writer import ReportLineage, WriterSettings
from app.fleets.service import Fleets
from app.reports.storage import reports
from app.runs.storage import runs
from app.runs.storage import stored_turns as tapes
from app.schedules.storage import living_runs
from training.evaluation.harness.answering import render_plain
from training.evaluation.harness.cited_pages import cut_page, group_cited_quotes
from training.evaluation.harness.example import BenchmarkAnswer, Example
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.manifest import RunManifest
from training.evaluation.harness.run_request import RunRequest
from workflows.agents.reporting.brief_instead import is_brief_instead
from workflows.durable.fleet_pipeline import FleetPipeline


class Deployment(NamedTuple):
    """The parts of a deployment that a fleet needs: the fleets' service, and the database with their reports."""

    fleets: Fleets
    database: Executor


@dataclass(eq=False)
class FleetAnswerer:
    """A running fleet as a source of answers (see `Answerer`)."""

    database: Executor
    manifest: RunManifest
    folder: RunFolder
    _ends: dict[str, asyncio.Future[FleetEnd]] = field(default_factory=dict)
    _running: asyncio.Task[int] | None = None

    @asynccontextmanager
    async def follow(self, pipeline: FleetPipeline, asked: Sequence[FleetQuestion]) -> AsyncIterator[None]:
        """Receive the ends of these questions while the context is open."""
        loop = asyncio.get_running_loop()
        self._ends |= {question.name: loop.create_future() for question in asked}
        self._running = asyncio.create_task(pipeline.run(asked, lambda question, end: self.note_end(end)))
        try:
            yield
            await self._running  # so that the next command finds the fleet ended
        finally:
            self._running.cancel()
            await asyncio.wait((self._running,))

    def note_end(self, end: FleetEnd) -> None:
        """Note an end, and wake the answer that waits for it."""
        self._ends.setdefault(end.name, asyncio.get_running_loop().create_future()).set_result(end)

    @property
    def known(self) -> frozenset[str]:
        """The questions that this fleet has ended or works on."""
        return frozenset(self._ends)

    async def answer(self, example: Example[Any]) -> BenchmarkAnswer:
        """Answer with the report of the question's run, and store its turns and cited pages.

        Raises:
            RubricaError: the fleet cannot be followed. It goes on.
        """
        end = self._ends[example.id]
        if self._running is not None and not end.done():
            await asyncio.wait((end, self._running), return_when=asyncio.FIRST_COMPLETED)
            if not end.done():
                self._running.result()
        return await self._read_answer(await end)

    async def _read_answer(self, end: FleetEnd) -> BenchmarkAnswer:
        if end.run_id is None or end.status is not RunStatus.COMPLETED:
            return BenchmarkAnswer(item=end.name, failed=end.detail or f"its run was {end.status}")
        run, report = await runs.get(self.database, end.run_id), await living_runs.get_report(self.database, end.run_id)
        if run is None or run.finished_at is None or report is None:
            return BenchmarkAnswer(item=end.name, failed="its run was deleted")
        if otherwise := await self._describe_mismatch(end.run_id, report, run.query.language):
            return BenchmarkAnswer(item=end.name, failed=otherwise)
        self.folder.replace_turns(end.name, await tapes.list_turns(self.database, end.run_id))
        return BenchmarkAnswer(
            item=end.name,
            text=render_plain(report),
            report=report,
            pages=await self._store_pages(report),
            usage=run.usage,
            seconds=round((run.finished_at - run.created_at).total_seconds(), 3),
        )

    async def _describe_mismatch(self, run: UUID, report: Report, language: Language) -> str:
        """Describe how the deployment differs from the manifest; empty where it does not.

        A brief in place of the report of a model that wrote little is the system's answer. Its lineage names no model.
        """
        lineage = await living_runs.get_lineage(self.database, run) or ReportLineage()
        wanted = self.manifest.system.model.name if self.manifest.system.model else ""
        if wanted and not lineage.model:
            told = "".join(f" The report says: {notice}" for notice in report.notices[:1])
            own = is_brief_instead(report, language)
            return "" if own else f"no model wrote it; if the stack has none, give it the manifest's, {wanted}.{told}"
        if lineage.model != wanted:
            names = wanted or "none"
            return f"the stack wrote it with {lineage.model}, the manifest names {names}; give both the same RUBRICA_LLM_MODEL"
        if other := [name for name, digest in lineage.prompts.items() if self.manifest.prompts.get(name, digest) != digest]:
            return f"the stack has another prompt {other[0]}; run the same version of the program on both"
        return ""

    async def _store_pages(self, report: Report) -> dict[str, str]:
        """Store the deployment's copies of the cited pages in the folder, by address."""
        pages: dict[str, str] = {}
        for url, quotes in group_cited_quotes(report).items():
            text = await reports.get_snapshot(self.database, quotes[-1].source.snapshot) or b""
            pages[url] = self.folder.keep_page(cut_page(text.decode(), quotes))
        return pages


@asynccontextmanager
async def open_fleet_answerer(
    deployment: Deployment, manifest: RunManifest, folder: RunFolder, wanted: RunRequest, asked: Sequence[Example[Any]]
) -> AsyncIterator[FleetAnswerer]:
    """Let a fleet of the deployment answer these questions, or follow the fleet that does."""
    answers = FleetAnswerer(deployment.database, manifest, folder)
    kept = folder.read_fleet()
    if kept is not None and await _has_ended(deployment.fleets, kept):
        await _take_over(deployment.fleets, kept, answers, frozenset(folder.read_answers()))
        kept = None
    left = [_question_of(example, manifest, wanted) for example in asked if example.id not in answers.known]
    if not left:
        yield answers
        return
    fleet = kept or folder.name_fleet(uuid4())
    async with answers.follow(FleetPipeline(deployment.fleets, fleet, wanted.at_once), left):
        yield answers


async def _has_ended(fleets: Fleets, fleet: UUID) -> bool:
    try:
        return (await fleets.get(fleet)).ended_at is not None
    except NotFound:
        return False


async def _take_over(fleets: Fleets, fleet: UUID, answers: FleetAnswerer, read: frozenset[str]) -> None:
    """Note the answers of an ended fleet that were not `read` yet. Failed questions are asked again."""
    number = 0
    while ends := await fleets.list_ends(fleet, number):
        for end in ends:
            if end.status is RunStatus.COMPLETED and end.name not in read:
                answers.note_end(end)
        number = ends[-1].number


def _question_of(example: Example[Any], manifest: RunManifest, wanted: RunRequest) -> FleetQuestion:
    query = ResearchQuery(
        question=example.question,
        language=example.language,
        system=wanted.system,
        effort=wanted.effort,
        writer=WriterSettings(composition=wanted.composition),
        one_conversation=wanted.one_conversation,
        collections=tuple(manifest.system.corpora),
    )
    return FleetQuestion(name=example.id, query=query)
