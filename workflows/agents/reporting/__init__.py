"""The report agent (MindDR section 3.1): one call over whole passages and one critical pass (section 5.3). Where report or
context are of a size for which that is not enough: an outline, section writers side by side, one critical pass over the whole.

Where the model writes less than half of the sections, a brief takes the report's place.
"""

from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.report import Report
from app.domain.writer import Composition
from workflows.agents.asker import Asker
from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.kit import Kit
from workflows.agents.reporting.assembly import assemble_report, report_no_evidence
from workflows.agents.reporting.brief_instead import write_brief_instead
from workflows.agents.reporting.composition import choose_composition
from workflows.agents.reporting.consistency import make_consistent
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.drafts import tell_outline
from workflows.agents.reporting.outline import make_outline
from workflows.agents.reporting.placing import place_evidence
from workflows.agents.reporting.sections import is_mostly_quoted, write_sections
from workflows.agents.reporting.whole_report import write_in_one_pass
from workflows.agents.stage_memory import REPORTER


async def write_report(query: ResearchQuery, plan: ResearchPlan, findings: tuple[Finding, ...], kit: Kit) -> Report:
    """Write a report in which every citation resolves to a stored quote. There is a report even when the model fails.

    Findings come in the order of the plan; the report does not depend on the order in which they were found.
    """
    desk = ReportDesk(kit, query, plan, findings, EvidenceBook(findings), Asker(kit, REPORTER))
    if not len(desk.book):
        return report_no_evidence(desk)
    if choose_composition(desk) is Composition.SINGLE_PASS and (report := await write_in_one_pass(desk)):
        return report
    return await _write_by_sections(desk)


async def _write_by_sections(desk: ReportDesk) -> Report:
    outline = await make_outline(desk)
    filled = place_evidence(outline, desk.book)
    outline = outline.keep_only([section.section for section in filled])
    await tell_outline(desk, outline.title, [(section.number, section.heading) for section in outline.sections])
    pieces = await write_sections(desk, outline, filled)
    if desk.kit.bounds.replace_failed and is_mostly_quoted(pieces):
        return await write_brief_instead(desk, [piece.quoted for piece in pieces if piece.quoted])
    report = assemble_report(desk, outline.title, await make_consistent(desk, outline.title, pieces))
    return report.model_copy(update={"composition": Composition.SECTIONS})
