"""Warn readers about the sources that a report cites."""

from app.domain.report import Report
from app.reports.rendering.numbering import Numbering
from app.reports.rendering.words import RenderingWords


def list_notices(report: Report, numbering: Numbering, words: RenderingWords) -> tuple[str, ...]:
    """Return the report's own notices, and one for each cited source that tries to instruct machines which read it."""
    suspicious: dict[str, tuple[int, tuple[str, ...]]] = {}
    for citation in numbering.citations:
        source = citation.quote.source
        if source.suspicions:
            suspicious.setdefault(source.url, (citation.n, source.suspicions))
    cautions = (words.suspicious.format(n=f"({n})", patterns=", ".join(names)) for n, names in suspicious.values())
    return (*report.notices, *cautions)
