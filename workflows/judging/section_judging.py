"""Judging the sections that a reader changed. The claims of the other sections keep their verdicts."""

from collections.abc import Mapping, Sequence

from app.domain.claims import Claim
from app.domain.evidence import Finding, Quote
from app.domain.report import Report, Section
from app.settings import ClaimGrader
from workflows.agents.kit import Kit
from workflows.judging.context import QuoteContext
from workflows.judging.report_verification import list_notices, verify_report
from workflows.judging.second_look import Judges


async def judge_sections_again(
    report: Report,
    place: tuple[int, int],
    sections: Sequence[Section],
    quotes: Sequence[Quote],
    findings: Sequence[Finding],
    kit: Kit,
    judges: Judges,
    around: Mapping[str, QuoteContext],
    mend: bool,
) -> Report:
    """Replace the report's sections `[first, end)`, then judge and repair the claims of the new ones.

    `quotes` are those that the new sections may cite besides the report's own. A reader's own words are judged without `mend`.
    """
    first, end = place
    known = {quote.key: quote for quote in (*report.quotes, *quotes)}
    part = Report(title=report.title, sections=tuple(sections), quotes=tuple(known.values()))
    part = await verify_report(part, findings, kit, judges, around, mend)
    shift = len(part.sections) - (end - first)
    kept_before = [claim for claim in report.claims if claim.section < first]
    kept_after = [_shift_section(claim, shift) for claim in report.claims if claim.section >= end]
    claims = (*kept_before, *(_shift_section(claim, first) for claim in part.claims), *kept_after)
    old = {notice for judge in ClaimGrader for notice in list_notices(report.claims, kit.language, judge)}
    said = tuple(notice for notice in report.notices if notice not in old)
    update = {
        "sections": (*report.sections[:first], *part.sections, *report.sections[end:]),
        "quotes": part.quotes,
        "claims": claims,
        "notices": (*said, *list_notices(claims, kit.language, judges.second)),
    }
    return report.model_copy(update=update)


def _shift_section(claim: Claim, by: int) -> Claim:
    return claim.model_copy(update={"section": claim.section + by})
