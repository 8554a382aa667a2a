"""Verifying the reports of a question with a model (QSR section 3.2): flawed ones fall out, the best two stay.

A report's score is the model's, from 1 to 10 (QSR C.12). Of equal scores, a hash of the text decides.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.missing import Missing
from app.reports.rendering.numbering import number_citations
from training.rewards.score import require_present
from training.synthesis.preference_pairs.report_rules import ReportFlaw, drop_report, looks_aggregated
from training.synthesis.preference_pairs.rows import DroppedReport
from training.synthesis.recorded_reports import RecordedReport
from workflows.agents.kit import Kit
from workflows.judging.report_flaws import judge_flaws
from workflows.judging.score_judges import judge_pointwise

PASSAGE_CHARS = 600


@dataclass(frozen=True, slots=True)
class VerifiedReport:
    """A report without flaws, and its score."""

    report: RecordedReport
    score: int


async def verify_reports(
    kit: Kit, question: str, reports: Sequence[RecordedReport]
) -> tuple[list[VerifiedReport], list[DroppedReport]] | Missing:
    """Return the reports that stand, the best first, and those that fell out; missing where a judgement is."""
    found = require_present(await asyncio.gather(*(_verify(kit, question, report) for report in reports)))
    if isinstance(found, Missing):
        return found
    standing = [each for each in found if isinstance(each, VerifiedReport)]
    standing.sort(key=lambda each: (-each.score, each.report.digest))
    return standing, [each for each in found if isinstance(each, DroppedReport)]


async def _verify(kit: Kit, question: str, report: RecordedReport) -> VerifiedReport | DroppedReport | Missing:
    flaws = await judge_flaws(kit, question, report.answer.text, _list_passages(report))
    if isinstance(flaws, Missing):
        return flaws
    if flaws.errors:
        return drop_report(report, ReportFlaw.FACT, f"{flaws.errors[0].words} ({flaws.errors[0].reason})")
    if flaws.aggregation and looks_aggregated(report.answer.report):
        return drop_report(report, ReportFlaw.AGGREGATION)
    score = await judge_pointwise(kit, question, report.answer.text)
    return score if isinstance(score, Missing) else VerifiedReport(report, score)


def _list_passages(report: RecordedReport) -> str:
    if report.answer.report is None:
        return ""
    cited = number_citations(report.answer.report).citations
    return "\n".join(f"[{c.n}] {c.quote.source.title}: {c.quote.text[:PASSAGE_CHARS]}" for c in cited)
