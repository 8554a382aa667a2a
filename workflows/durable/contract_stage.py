"""The rubric in a run's stages: it is drafted with the plan, and the report is checked against it before delivery."""

import logging
from dataclasses import dataclass

from app.asking.storage import rubrics
from app.domain.errors import NotFound
from app.domain.evidence import Finding
from app.domain.memory import SharedMemory
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.report import Report
from app.domain.rubric import Rubric
from app.domain.run import EventType
from app.domain.scorecard import Scorecard
from app.domain.writer import Agents, ReportLineage
from workflows.agents.asking import Asker
from workflows.agents.kit import Kit
from workflows.agents.remembering import REPORTER, memory_of_report
from workflows.agents.reporting.amending import AGENT
from workflows.agents.reporting.book import QuoteBook
from workflows.agents.reporting.desk import Desk
from workflows.durable.payloads import ReportRequest
from workflows.durable.persistence import insist
from workflows.durable.workshop import Attempt
from workflows.durable.writers import writer_of
from workflows.judging.contract import Checked, held_to, offline_scorecard, scorecard
from workflows.judging.rubric_generation import draft_rubric

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Contract:
    """The rubric of a run, its judge (None: there is no model to judge, or nothing more may be spent), and the checked report."""

    rubric: Rubric
    query: ResearchQuery
    judge: Kit | None
    checked: Checked

    async def scorecard(self, final: Report) -> Scorecard:
        """Return the scorecard of the report in its final form."""
        if self.judge is None:
            return offline_scorecard(self.rubric, final, self.query)
        return await scorecard(self.rubric, self.checked, final, self.query, self.judge)


async def draft_for_run(attempt: Attempt, plan: ResearchPlan) -> None:
    """Draft a rubric for the planned run, unless the run came with one."""
    shop, request = attempt.shop, attempt.request
    if await insist(lambda: rubrics.get(shop.database, request.run_id)) is not None:
        return
    asks = shop.asks_a_model and not request.finish
    parts = [subtask.title for subtask in plan.subtasks]
    rubric = await draft_rubric(request.query, attempt.kit(attempt.notes), parts, asks)
    await insist(lambda: rubrics.add_draft(shop.database, request.run_id, rubric))


async def held(
    request: ReportRequest, attempt: Attempt, findings: tuple[Finding, ...], written: Report, lineage: ReportLineage
) -> Contract | None:
    """Return the report after the check-and-revise pass; None for a run whose rubric is gone.

    When the judge fails, the report stays as it was written, so that the reader still gets it.
    """
    shop, query = attempt.shop, request.query
    stored = await insist(lambda: rubrics.get(shop.database, request.run_id))
    if stored is None:
        return None
    if request.finish or not shop.asks_a_model:
        return Contract(stored.rubric, query, None, Checked(written))
    judge = attempt.kit(SharedMemory())
    try:
        desk = _desk(request, attempt, findings) if lineage.agents == Agents.MODEL else None
        checked = await held_to(stored.rubric, written, query, judge, desk)
    except Exception as error:
        log.exception("run %s: the report could not be held to its rubric", request.run_id)
        await attempt.record.tell(EventType.WARNING, REPORTER, {"message": f"the report was not held to its rubric: {error}"})
        return Contract(stored.rubric, query, None, Checked(written))
    return Contract(stored.rubric, query, judge, checked)


async def judged_afterwards(attempt: Attempt, query: ResearchQuery, report: Report) -> Scorecard:
    """Return the scorecard of a finished report by a rubric that its run got later. The report does not change.

    Raises:
        NotFound: the run has no rubric.
    """
    shop, run_id = attempt.shop, attempt.request.run_id
    stored = await insist(lambda: rubrics.get(shop.database, run_id))
    if stored is None:
        raise NotFound(f"run {run_id} has no rubric")
    if not shop.asks_a_model:
        return offline_scorecard(stored.rubric, report, query)
    judge = attempt.kit(SharedMemory())
    return await scorecard(stored.rubric, await held_to(stored.rubric, report, query, judge, None), report, query, judge)


def _desk(request: ReportRequest, attempt: Attempt, findings: tuple[Finding, ...]) -> Desk:
    """Return the writer's desk, with the model and prompts that wrote the report."""
    writer = writer_of(attempt.shop, request.query)
    kit = attempt.kit(memory_of_report(request.plan, findings, attempt.notes), writer.chat, writer.prompts)
    return Desk(kit, request.query, request.plan, findings, QuoteBook(findings), Asker(kit, AGENT))
