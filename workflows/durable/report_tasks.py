"""Tasks on finished reports (changes, questions, later scoring): one activity, recorded and billed to the run like a stage."""

import logging
from collections.abc import Awaitable, Callable
from uuid import UUID

from temporalio import activity

from app.asking.storage import rubrics
from app.domain.budget import StopReason
from app.domain.contract import Halt, ReportTaskInput, ResearchInput
from app.domain.errors import ModelError, NotFound, RubricaError
from app.domain.evidence import Passage, Quote
from app.domain.query import Language, ResearchQuery
from app.domain.report import READER, Report, Section
from app.domain.revision import ORIGINS, FollowUp, ReportTask, TaskKind, TaskStatus, VersionInfo
from app.domain.served_models import ModelRole
from app.domain.writer import Agents
from app.reports.rendering import render
from app.reports.storage import report_tasks, versions
from app.reports.storage.reports import find_surroundings
from app.runs.storage import runs, steering
from app.runs.storage.run_log import RunLog
from workflows.agents import brief, follow_up
from workflows.agents.failures import describe_failure
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent
from workflows.agents.reporting import section_rewrite as by_model
from workflows.agents.reporting.renewed_notices import renew_notices
from workflows.agents.reporting.section_rewrite import RewrittenSection
from workflows.agents.revision import NothingToAdd, SectionRevision
from workflows.agents.stage_memory import memory_of_report, path_of_search
from workflows.chat_models.served_book import OpenModel
from workflows.durable import payloads
from workflows.durable.cited_copies import KeptReport, keep_cited_by_report
from workflows.durable.failures import make_final_failure
from workflows.durable.gone_models import load_with_models
from workflows.durable.persistence import persist
from workflows.durable.report_stage import judges_of
from workflows.durable.rubric_stage import judge_afterwards
from workflows.durable.stage_running import perform_stage
from workflows.durable.workshop import StageAttempt, StageOutcome, Workshop
from workflows.durable.writers import ReportWriter, make_brief_writer, writer_of
from workflows.judging.context import QuoteContext
from workflows.judging.report_verification import verify_report
from workflows.judging.second_look import Judges
from workflows.judging.section_judging import judge_sections_again

WIDE_CHARS = 1_500
"""Characters of the stored copy on each side of a quote from which a follow-up question may be answered."""
NOT_WRITTEN = {
    Language.ENGLISH: "The language model did not write “{what}” anew ({reason}); its sentences are the sources' own.",
    Language.CHINESE: "“{what}”并非由语言模型改写（{reason}）；其中句子均直接取自来源。",
}
NOT_ANSWERED = {
    Language.ENGLISH: "The language model did not answer ({reason}); these are the sources' own words.",
    Language.CHINESE: "语言模型没有作答（{reason}）；以下均为来源原文。",
}
log = logging.getLogger(__name__)


class ReportTaskActivities:
    """The activities of report tasks of one worker."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop

    @property
    def list_activities(self) -> list[Callable[..., Awaitable[None]]]:
        """The activities to register with the worker."""
        return [self.work, self.fail]

    @activity.defn(name=payloads.REPORT_TASK_ACTIVITY)
    async def work(self, given: ReportTaskInput) -> None:
        """Do a task that is not done yet. Its result and its end are stored in one transaction."""
        task = await persist(lambda: report_tasks.get(self._shop.database, given.run_id, given.task_id))
        if task is None or task.status is not TaskStatus.QUEUED:
            return
        start = await persist(lambda: load_with_models(self._shop.log, given.run_id))
        plan = start.plan
        try:
            spends = await _may_spend(self._shop, task.request.kind, start.query)
        except RubricaError as error:
            raise make_final_failure(error) from error
        if plan is None:
            raise make_final_failure(NotFound(f"run {given.run_id} has no plan"))
        request = payloads.StageRequest(run_id=given.run_id, query=start.query, finish=not spends)
        # A run that ended tells its stages to stop, so that no stage left behind goes on; this stage has to work.
        await persist(lambda: steering.set_control(self._shop.database, given.run_id, Halt.NONE, (Halt.CANCEL, Halt.PAUSE)))
        needs = [path_of_search(subtask.id) for subtask in plan.subtasks]

        async def perform_task(attempt: StageAttempt) -> None:
            await _TaskWork(attempt, task, start).perform()

        await perform_stage(
            self._shop, request, f"task/{given.task_id}", task.request.kind.value, needs, perform_task, lambda _: None
        )

    @activity.defn(name=payloads.FAIL_TASK_ACTIVITY)
    async def fail(self, failed: payloads.FailedTask) -> None:
        """Store why there is no result, for the reader."""
        await persist(lambda: _fail_task(self._shop, failed.run_id, failed.task_id, failed.detail))


async def _fail_task(shop: Workshop, run_id: UUID, task_id: UUID, detail: str) -> None:
    await report_tasks.finish(shop.database, run_id, task_id, TaskStatus.FAILED, detail)


async def _may_spend(shop: Workshop, kind: TaskKind, query: ResearchQuery) -> bool:
    if kind is TaskKind.SCORE:
        return shop.asks_a_model
    return kind is not TaskKind.EDIT and _asks_a_model(await writer_of(shop, query))


def _asks_a_model(writer: ReportWriter) -> bool:
    return writer.lineage.agents == Agents.MODEL


class _TaskWork:
    """One task under way. `_failure` says why the model that should have written did not; empty: it did, or none should."""

    def __init__(self, attempt: StageAttempt, task: ReportTask, start: ResearchInput) -> None:
        self._attempt = attempt
        self._shop = attempt.shop
        self._task = task
        self._query = start.query
        assert start.plan is not None
        self._plan = start.plan
        self._findings = attempt.needed_findings
        self._by_model = False
        self._failure = ""

    async def perform(self) -> None:
        """Do the task and store its result. A change for which the evidence has nothing ends as failed, with the reason."""
        try:
            if self._task.request.kind is TaskKind.QUESTION:
                await self._answer_question()
            elif self._task.request.kind is TaskKind.SCORE:
                await self._score_report()
            else:
                await self._change_report()
        except NothingToAdd as nothing:
            reason = str(nothing)
            await self._close_task(lambda log: self._end_task(log, TaskStatus.FAILED, reason))

    async def _score_report(self) -> None:
        request, run_id = self._task.request, self._task.run_id
        stored = await persist(lambda: versions.get(self._shop.database, run_id, request.base))
        if stored is None:
            raise NotFound(f"run {run_id} has no version {request.base}")
        card = await judge_afterwards(self._attempt, self._query, Report.of_any_version(stored.report))

        async def keep(log: RunLog) -> None:
            await rubrics.save_scorecard(log.executor, run_id, card)
            await self._end_task(log, TaskStatus.DONE)

        await self._close_task(keep)

    async def _change_report(self) -> None:
        request, run_id = self._task.request, self._task.run_id
        stored = await persist(lambda: versions.get(self._shop.database, run_id, request.base))
        run = await persist(lambda: runs.get(self._shop.database, run_id))
        if stored is None or run is None or request.section is None:
            raise NotFound(f"run {run_id} has no version {request.base}")
        report = Report.of_any_version(stored.report)
        revision = SectionRevision(report, request.section, request.kind is TaskKind.DEEPEN, request.text)
        place, (sections, cited) = await self._replace_sections(revision)
        quotes = (*(quote for finding in self._findings for quote in finding.quotes), *cited)
        own_words = request.kind is TaskKind.EDIT
        changed = await self._judge_again(report, place, sections, () if own_words else quotes, not own_words)
        changed = renew_notices(brief.renew_notice(changed, report), request.section, report, self._query.language)
        kept = await keep_cited_by_report(
            self._give_reason(changed, sections[0].heading),
            self._findings,
            self._attempt.find_missing_snapshots,
            self._attempt.fetch_snapshot,
        )
        changed = kept.report
        rendered = render(changed, run, await persist(lambda: find_surroundings(self._shop.database, changed.quotes)))
        info = VersionInfo(
            n=request.base + 1,
            origin=ORIGINS[request.kind],
            based_on=request.base,
            section=request.section,
            note=request.text,
            usage=self._attempt.record.usage,
            created_at=self._task.created_at,
        )

        async def keep(log: RunLog) -> None:
            await versions.add(log.executor, run_id, info, changed, rendered.renderings, rendered.evidence)
            await self._end_task(log, TaskStatus.DONE, version=info.n)

        await self._close_task(keep, kept)

    async def _replace_sections(self, revision: SectionRevision) -> tuple[tuple[int, int], RewrittenSection]:
        """Return the place of the replaced sections and the new ones. A reader's edit is of one section, without its parts."""
        request = self._task.request
        if request.kind is TaskKind.EDIT:
            old = revision.sections[0]
            words = {"heading": request.heading or old.heading, "body": request.body, "changed_by": READER}
            edited = old.model_copy(update=words)
            return (revision.first, revision.first + 1), RewrittenSection((edited,))
        place = (revision.first, revision.end)
        writer = await writer_of(self._shop, self._query)
        if _asks_a_model(writer):
            try:
                written = await by_model.rewrite_section(
                    revision, self._query, self._plan, self._findings, self._kit_of(writer.model)
                )
                self._by_model = True
                return place, written.by(writer.lineage.model)
            except (BudgetSpent, ModelError) as error:
                self._note_failure(error)
        kit = self._kit_of(make_brief_writer(self._shop, self._query).model)
        return place, RewrittenSection(await brief.revise_section(revision, self._query, self._plan, self._findings, kit))

    async def _judge_again(
        self, report: Report, place: tuple[int, int], sections: tuple[Section, ...], quotes: tuple[Quote, ...], mend: bool
    ) -> Report:
        around = await self._contexts_of((*report.quotes, *quotes))
        kit, findings = self._judging_kit, self._findings if mend else ()
        return await judge_sections_again(report, place, sections, quotes, findings, kit, self._judges, around, mend)

    async def _answer_question(self) -> None:
        """Answer the question from the sentences around every quote that the searches found, and the passages that they read."""
        quotes = list({quote.key: quote for finding in self._findings for quote in finding.quotes}.values())
        around = await persist(lambda: find_surroundings(self._shop.database, quotes, WIDE_CHARS))
        read = [passage for finding in self._findings for passage in finding.passages]
        passages = follow_up.widen_quotes(quotes, {key: (text.before, text.after) for key, text in around.items()}, read)
        answered = await self._write_answer(self._task.request.text, quotes, passages)
        report = Report(title="", sections=(Section(heading="", body=answered.body),), quotes=answered.quotes)
        contexts = await self._contexts_of(answered.quotes)
        judged = await verify_report(report, (), self._judging_kit, self._judges, contexts, mend=False)
        told = {"body": judged.sections[0].body, "claims": judged.claims} if answered.answered else {}
        answer = self._explain(answered.model_copy(update=told))
        await self._close_task(lambda log: self._end_task(log, TaskStatus.DONE, answer=answer))

    async def _write_answer(self, question: str, quotes: list[Quote], passages: list[Passage]) -> FollowUp:
        writer = await writer_of(self._shop, self._query)
        if _asks_a_model(writer):
            try:
                kit = self._kit_of(writer.model)
                answer = await follow_up.answer_from_evidence(question, self._query, quotes, passages, kit)
                self._by_model = True
                return answer
            except (BudgetSpent, ModelError) as error:
                self._note_failure(error)
        kit = self._kit_of(make_brief_writer(self._shop, self._query).model)
        return await follow_up.answer_in_quotes(question, self._query, passages, kit)

    def _note_failure(self, error: BudgetSpent | ModelError) -> None:
        log.warning("task %s: the model did not write (%s); the sources' own words do", self._task.id, error)
        self._failure = describe_failure(error, self._query.language)

    def _give_reason(self, changed: Report, heading: str) -> Report:
        """Return the report with a notice why a section is not the model's, if there is a reason, in place of an earlier one."""
        opening, _, ending = NOT_WRITTEN[self._query.language].partition("{reason}")
        opening = opening.format(what=heading)
        new = (f"{opening}{self._failure}{ending}",) if self._failure else ()
        kept = (notice for notice in changed.notices if not notice.startswith(opening))
        return changed.model_copy(update={"notices": (*new, *kept)})

    def _explain(self, answer: FollowUp) -> FollowUp:
        """Return the answer after the reason why it is not the model's, if there is one."""
        if not self._failure:
            return answer
        reason = f"> {NOT_ANSWERED[self._query.language].format(reason=self._failure)}\n\n"
        by = len(reason)
        claims = tuple(claim.model_copy(update={"start": claim.start + by, "end": claim.end + by}) for claim in answer.claims)
        return answer.model_copy(update={"body": reason + answer.body, "claims": claims})

    @property
    def _judges(self) -> Judges:
        """The judges of the first report for what the model wrote; else those that spend nothing."""
        return judges_of(self._shop, self._by_model)

    @property
    def _judging_kit(self) -> Kit:
        return self._kit_of(self._attempt.models[ModelRole.JUDGE])

    def _kit_of(self, model: OpenModel) -> Kit:
        return self._attempt.make_kit(memory_of_report(self._plan, self._findings, self._attempt.notes), model)

    async def _contexts_of(self, quotes: tuple[Quote, ...]) -> dict[str, QuoteContext]:
        found = await persist(lambda: find_surroundings(self._shop.database, quotes))
        return {key: QuoteContext(*texts) for key, texts in found.items()}

    async def _end_task(
        self, log: RunLog, status: TaskStatus, detail: str = "", version: int | None = None, answer: FollowUp | None = None
    ) -> None:
        usage = self._attempt.record.usage
        await report_tasks.finish(log.executor, self._task.run_id, self._task.id, status, detail, version, answer, usage)

    async def _close_task(self, also: Callable[[RunLog], Awaitable[None]], kept: KeptReport | None = None) -> None:
        told = {"stop": StopReason.SUFFICIENT, "detail": "", "quotes": 0, "sources": 0}
        copies = (kept.snapshots, kept.cites) if kept else ()
        await self._attempt.close(StageOutcome(b"{}", told, *copies), also)
