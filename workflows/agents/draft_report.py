"""The report of systems that write while they search: their draft is cut into sections and cleaned, and keeps its citations.

No model is asked. Where every draft is empty, a brief takes the report's place.
"""

from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.report import Report
from workflows.agents.asker import Asker
from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.failures import describe_stop
from workflows.agents.kit import Kit
from workflows.agents.reporting.assembly import assemble_report, report_no_evidence
from workflows.agents.reporting.brief_instead import write_brief_instead
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.pieces import ReportPiece, cut_whole_report
from workflows.agents.stage_memory import REPORTER


async def deliver_draft(query: ResearchQuery, plan: ResearchPlan, findings: tuple[Finding, ...], kit: Kit) -> Report:
    """Return the report; every citation resolves to a stored quote."""
    desk = ReportDesk(kit, query, plan, findings, EvidenceBook(findings), Asker(kit, REPORTER))
    if not len(desk.book):
        return report_no_evidence(desk)
    drafted = [finding for finding in findings if finding.answer.strip()]
    if not drafted:
        return await write_brief_instead(desk, [f.detail or describe_stop(f.stop, kit.language) for f in findings])
    title, pieces = "", list[ReportPiece]()
    for finding in drafted:
        own, written = cut_whole_report(desk, desk.book.put_ids(finding.answer), desk.book.ids)
        title = title or own
        pieces += written
    return assemble_report(desk, title, pieces)
