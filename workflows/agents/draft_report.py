"""The report of systems that write while they search: their draft is cut into sections and cleaned, and keeps its citations.

No model is asked. A finding with an empty draft gives its quotes unchanged.
"""

from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.report import Report
from workflows.agents.asking import Asker
from workflows.agents.kit import Kit
from workflows.agents.remembering import REPORTER
from workflows.agents.reporting.assembly import notices, sections_of, without_evidence
from workflows.agents.reporting.book import QuoteBook
from workflows.agents.reporting.citing import cited_ids, cleaned, without_citations
from workflows.agents.reporting.desk import Desk
from workflows.agents.reporting.headings import parts_of
from workflows.agents.reporting.sections import Piece, is_list_of_references
from workflows.agents.wording import say

TITLE = 1


async def deliver_draft(query: ResearchQuery, plan: ResearchPlan, findings: tuple[Finding, ...], kit: Kit) -> Report:
    """Return the report; every citation resolves to a stored quote."""
    desk = Desk(kit, query, plan, findings, QuoteBook(findings), Asker(kit, REPORTER))
    if not len(desk.book):
        return without_evidence(desk)
    title, pieces = "", list[Piece]()
    for finding in findings:
        own, written = _pieces(desk, finding)
        title = title or own
        pieces += written
    cited = dict.fromkeys(short for piece in pieces for short in cited_ids(piece.text))
    return Report(
        title=without_citations(title) or desk.default_title,
        sections=sections_of(pieces, desk.book),
        quotes=tuple(desk.book[short] for short in cited),
        notices=notices(desk, pieces),
        removed_citations=desk.removed_citations,
    )


def _pieces(desk: Desk, finding: Finding) -> tuple[str, list[Piece]]:
    """Return the title that a finding's draft gives itself, and the draft in pieces."""
    if not finding.answer.strip():
        return "", [_quotes(desk, finding)] if finding.quotes else []
    title, pieces = "", list[Piece]()
    for number, part in enumerate(parts_of(desk.book.with_ids(finding.answer)), 1):
        heading = part.heading
        if part.level == TITLE and not title:
            title, heading = heading, ""
        if is_list_of_references(part.heading):
            continue
        clean = cleaned(part.text, desk.book.ids)
        desk.removed_citations += clean.removed
        heading = without_citations(heading)
        if clean.text or heading:
            heading = heading or say("summary", desk.kit.language)
            pieces.append(Piece(number, min(4, max(2, part.level)), heading, clean.text))
    return title, _with_text(pieces)


def _with_text(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces without those that have neither text nor a part below them."""
    kept: list[Piece] = []
    for piece in reversed(pieces):
        if piece.text or (kept and kept[-1].level > piece.level):
            kept.append(piece)
    return kept[::-1]


def _quotes(desk: Desk, finding: Finding) -> Piece:
    lines = [f"- “{without_citations(desk.book[short].text)}” [{short}]" for short in desk.book.of_finding(finding)]
    return Piece(1, 2, say("evidence", desk.kit.language), "\n".join(lines))
