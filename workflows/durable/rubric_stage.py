"""The rubric in a run's stages: it is drafted with the plan, and the report is checked against it before delivery."""

import logging
from dataclasses import dataclass

from app.asking.storage import rubrics
from app.domain.errors import NotFound
from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.report import Report
from app.domain.rubric import Rubric
from app.domain.run import EventType
from app.domain.scorecard import Scorecard
from app.domain.served_models import ModelRole
from app.domain.writer import Agents, ReportLineage
from workflows.agents.asker import Asker
from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.kit import Kit
from workflows.agents.memory import SharedMemory
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.report_revision import REVISION_AGENT
from workflows.agents.stage_memory import REPORTER, memory_of_report
from workflows.durable.payloads import ReportRequest
from workflows.durable.persistence import persist
from workflows.durable.workshop import StageAttempt
from workflows.durable.writers import writer_of
from workflows.judging.rubric_check import CheckedReport, check_against_rubric, make_offline_scorecard, make_scorecard
from workflows.judging.rubric_generation import draft_rubric, list_parts

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RubricCheck:
    """The rubric of a run, its judge (None: there is no model to judge, or nothing more may be spent), and the checked report."""

    rubric: Rubric
    query: ResearchQuery
    judge: Kit | None
    checked: CheckedReport

    async def make_scorecard(self, final: Report) -> Scorecard:
        """Return the scorecard of the report in its final form."""
        if self.judge is None:
            return make_offline_scorecard(self.rubric, final, self.query)
        return await make_scorecard(self.rubric, self.checked, final, self.query, self.judge)


async def load_rubric(attempt: StageAttempt) -> Rubric | None:
    """Return the run's rubric; None where it has none."""
    stored = await persist(lambda: rubrics.get(attempt.shop.database, attempt.request.run_id))
    return stored.rubric if stored else None


async def draft_for_run(attempt: StageAttempt, plan: ResearchPlan) -> None:
    """Draft a rubric for the planned run, unless it has one: it came with it, or another stage drafted it."""
    shop, request = attempt.shop, attempt.request
    if await load_rubric(attempt) is not None:
        return
    asks = shop.asks_a_model and not request.finish
    kit = attempt.make_kit(attempt.notes, attempt.models[ModelRole.RUBRIC])
    rubric = await draft_rubric(request.query, kit, list_parts(plan), asks)
    await persist(lambda: rubrics.add_draft(shop.database, request.run_id, rubric))


async def hold_to_rubric(
    request: ReportRequest, attempt: StageAttempt, findings: tuple[Finding, ...], written: Report, lineage: ReportLineage
) -> RubricCheck | None:
    """Return the report after the check-and-revise pass; None for a run whose rubric is gone.

    When the judge fails, the report stays as it was written, so that the reader still gets it.
    """
    shop, query = attempt.shop, request.query
    rubric = await load_rubric(attempt)
    if rubric is None:
        return None
    if request.finish or not shop.asks_a_model:
        return RubricCheck(rubric, query, None, CheckedReport(written))
    judge = attempt.make_kit(SharedMemory(), attempt.models[ModelRole.JUDGE])
    try:
        desk = await _make_desk(request, attempt, findings, written) if lineage.agents == Agents.MODEL else None
        checked = await check_against_rubric(rubric, written, query, judge, desk)
    except Exception as error:
        log.exception("run %s: the report could not be held to its rubric", request.run_id)
        await attempt.record.tell(EventType.WARNING, REPORTER, {"message": f"the report was not held to its rubric: {error}"})
        return RubricCheck(rubric, query, None, CheckedReport(written))
    return RubricCheck(rubric, query, judge, checked)


async def judge_afterwards(attempt: StageAttempt, query: ResearchQuery, report: Report) -> Scorecard:
    """Return the scorecard of a finished report by a rubric that its run got later. The report does not change.

    Raises:
        NotFound: the run has no rubric.
    """
    rubric = await load_rubric(attempt)
    if rubric is None:
        raise NotFound(f"run {attempt.request.run_id} has no rubric")
    if not attempt.shop.asks_a_model:
        return make_offline_scorecard(rubric, report, query)
    judge = attempt.make_kit(SharedMemory(), attempt.models[ModelRole.JUDGE])
    return await make_scorecard(rubric, await check_against_rubric(rubric, report, query, judge, None), report, query, judge)


async def _make_desk(request: ReportRequest, attempt: StageAttempt, findings: tuple[Finding, ...], written: Report) -> ReportDesk:
    """Return the writer's desk, with the model and prompts that wrote the report."""
    writer = await writer_of(attempt.shop, request.query)
    kit = attempt.make_kit(memory_of_report(request.plan, findings, attempt.notes), writer.model)
    book = EvidenceBook(findings, written.quotes)
    return ReportDesk(kit, request.query, request.plan, findings, book, Asker(kit, REVISION_AGENT))
