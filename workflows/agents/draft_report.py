"""The report of systems that write while they search: their draft is cut into sections and cleaned, and keeps its citations.

No model is asked. Where every draft is empty, a brief takes the report's place.
"""

from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.report import Report
from workflows.agents.asker import Asker
from workflows.agents.citation_cleaning import list_cited_ids, remove_citations
from workflows.agents.failures import describe_stop
from workflows.agents.kit import Kit
from workflows.agents.quote_book import QuoteBook
from workflows.agents.reporting.assembly import list_notices, make_sections, report_no_evidence
from workflows.agents.reporting.brief_instead import write_brief_instead
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.sections import ReportPiece
from workflows.agents.reporting.whole_text import cut_whole_report
from workflows.agents.stage_memory import REPORTER


async def deliver_draft(query: ResearchQuery, plan: ResearchPlan, findings: tuple[Finding, ...], kit: Kit) -> Report:
    """Return the report; every citation resolves to a stored quote."""
    desk = ReportDesk(kit, query, plan, findings, QuoteBook(findings), Asker(kit, REPORTER))
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
    cited = dict.fromkeys(short for piece in pieces for short in list_cited_ids(piece.text))
    return Report(
        title=remove_citations(title) or desk.default_title,
        sections=make_sections(pieces, desk.book),
        quotes=tuple(desk.book[short] for short in cited),
        notices=list_notices(desk, pieces),
        removed_citations=desk.removed_citations,
    )
