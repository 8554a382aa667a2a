"""The report of systems that write while they search: their draft is cut into sections and cleaned, and keeps its citations.

No model is asked. A finding with an empty draft gives its quotes unchanged, and the report says so first.
"""

from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.report import Report
from workflows.agents.asker import Asker
from workflows.agents.failures import describe_stop
from workflows.agents.kit import Kit
from workflows.agents.reporting.assembly import list_notices, make_sections, report_no_evidence
from workflows.agents.reporting.citations import list_cited_ids, remove_citations
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.quote_book import QuoteBook
from workflows.agents.reporting.sections import ReportPiece
from workflows.agents.reporting.whole_text import cut_whole_report
from workflows.agents.stage_memory import REPORTER
from workflows.agents.wording import say


async def deliver_draft(query: ResearchQuery, plan: ResearchPlan, findings: tuple[Finding, ...], kit: Kit) -> Report:
    """Return the report; every citation resolves to a stored quote."""
    desk = ReportDesk(kit, query, plan, findings, QuoteBook(findings), Asker(kit, REPORTER))
    if not len(desk.book):
        return report_no_evidence(desk)
    title, pieces = "", list[ReportPiece]()
    for finding in findings:
        own, written = _cut_draft(desk, finding)
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


def _cut_draft(desk: ReportDesk, finding: Finding) -> tuple[str, list[ReportPiece]]:
    """Return the title that a finding's draft gives itself, and the draft in pieces."""
    if not finding.answer.strip():
        return "", [_list_quotes(desk, finding)] if finding.quotes else []
    return cut_whole_report(desk, desk.book.put_ids(finding.answer), desk.book.ids)


def _list_quotes(desk: ReportDesk, finding: Finding) -> ReportPiece:
    lines = [f"- “{remove_citations(desk.book[short].text)}” [{short}]" for short in desk.book.ids_of_finding(finding)]
    why = finding.detail or describe_stop(finding.stop, desk.kit.language)
    return ReportPiece(1, 2, say("evidence", desk.kit.language), "\n".join(lines), quoted=why)
