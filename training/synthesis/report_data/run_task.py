"""What the writer of a recorded run was given, with the day, the length and the notation of that run."""

from dataclasses import replace

from app.domain.query import Effort, ResearchQuery
from app.domain.trajectory import Trajectory
from training.synthesis.recorded_runs import RecordedRun
from training.synthesis.report_data.recorded_report import RecordedReportTask, find_intent, read_report_task
from workflows.agents.asker import Asker
from workflows.agents.effort import bounds_of
from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.kit import Kit
from workflows.agents.planning import frame_plan
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.simple_plan import make_single_plan
from workflows.agents.stage_memory import REPORTER


def read_run_task(run: RecordedRun, kit: Kit) -> RecordedReportTask | None:
    """Return what a run's report was, or would be, written from in one call; None where no model planned and wrote it.

    The kit is asked nothing.
    """
    trajectory = run.read_trajectory()
    return read_report_task(trajectory, _open_desk(kit, run, trajectory))


def _open_desk(kit: Kit, run: RecordedRun, trajectory: Trajectory) -> ReportDesk:
    """Return a desk with what the system prompt of the run says: its day, language, length and the planner's intent."""
    effort = Effort(run.manifest.system.effort or Effort.STANDARD)
    query = ResearchQuery(question=run.question.text, language=run.question.language, effort=effort)
    own = replace(kit, today=run.manifest.today, bounds=bounds_of(query), language=query.language, codec=run.codec)
    plan = frame_plan(make_single_plan(query), find_intent(trajectory))
    return ReportDesk(own, query, plan, (), EvidenceBook(()), Asker(own, REPORTER))
