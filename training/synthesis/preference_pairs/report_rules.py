"""The rules that a report must pass before it is compared (QSR section 3.2).

The paper names the flaws; people and a model look for them there. The rules are ours.
"""

from enum import StrEnum

from app.domain.claims import Support
from app.domain.report import Report
from app.reports.rendering.numbering import LOOKS_CITED, number_citations
from training.evaluation.harness.cited_pages import MOST_PAGE_CHARS
from training.synthesis.preference_pairs.rows import DroppedReport
from training.synthesis.recorded_reports import RecordedReport
from workflows.checks.citation_format import CitationFault, find_citation_faults
from workflows.checks.claims import claims_of
from workflows.judging.verbatim import is_verbatim

MOST_VERBATIM = 0.8
"""The share of cited sentences in the sources' own words from which a report may be a mere list of quotes."""
FEWEST_CITED = 3
BROKEN = frozenset({CitationFault.DANGLING, CitationFault.LEFTOVER, CitationFault.FLOATING})


class ReportFlaw(StrEnum):
    """Why a report falls out."""

    UNCITED = "it cites nothing"
    CITATION = "inconsistent citations"
    FACT = "an error of fact"
    AGGREGATION = "mere aggregation"


def find_flaw(report: RecordedReport) -> DroppedReport | None:
    """Return the first flaw that code sees; None where it sees none."""
    answer = report.answer
    if LOOKS_CITED.search(answer.text) is None:
        return drop_report(report, ReportFlaw.UNCITED)
    if broken := next((found for found in find_citation_faults(answer.text) if found.fault in BROKEN), None):
        return drop_report(report, ReportFlaw.CITATION, broken.shown)
    if answer.report is None:
        return None
    if shown := _find_unfounded(report, answer.report):
        return drop_report(report, ReportFlaw.CITATION, shown)
    against = next((claim.text for claim in answer.report.claims if claim.support is Support.CONTRADICTED), None)
    return None if against is None else drop_report(report, ReportFlaw.FACT, against)


def drop_report(report: RecordedReport, flaw: ReportFlaw, shown: str = "") -> DroppedReport:
    """Return the note that a report fell out; `shown` are the words that show why."""
    return DroppedReport(run=report.origin.run, flaw=flaw, shown=shown)


def looks_aggregated(report: Report | None) -> bool:
    """Say whether nearly all cited sentences are the sources' own words. A verifier has the last word on such a report."""
    if report is None:
        return False
    quotes = {quote.key: quote for quote in report.quotes}
    cited = [
        (sentence.text, [quotes[key] for key in sentence.keys if key in quotes])
        for section in report.sections
        for sentence in claims_of(section.body)
        if sentence.keys
    ]
    if len(cited) < FEWEST_CITED:
        return False
    return sum(is_verbatim(text, found) for text, found in cited) >= MOST_VERBATIM * len(cited)


def _find_unfounded(report: RecordedReport, written: Report) -> str:
    """Return a marker without a quote, or a cited quote that is not in the stored page; empty where there is neither.

    Very long pages are stored in part. A quote from beyond their beginning is not looked up.
    """
    numbered = number_citations(written)
    if numbered.unresolved:
        return f"[[{numbered.unresolved[0]}]]"
    for citation in numbered.citations:
        quote = citation.quote
        within = quote.end <= MOST_PAGE_CHARS
        if within and _fold(quote.text) not in _fold(report.read_page(quote.source.url)):
            return quote.text
    return ""


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()
