"""List where sources disagree: conflicts that agents noticed, and sentences of the report that contradict their own sources."""

from app.domain.claims import Support
from app.domain.report import Report
from app.reports.nouns import Disagreement, DisagreementKind, Side
from app.reports.rendering.numbering import number_citations


def list_disagreements(report: Report) -> list[Disagreement]:
    """Return all disagreements of a report, those between sources first; those without stored quotes are left out."""
    numbers = {citation.quote.key: citation.n for citation in number_citations(report).citations}
    quotes = {quote.key: quote for quote in report.quotes}

    def list_sides(keys: tuple[str, ...]) -> tuple[Side, ...]:
        return tuple(Side(n=numbers.get(key), quote=quotes[key]) for key in keys if key in quotes)

    between = [
        Disagreement(kind=DisagreementKind.SOURCES, about=conflict.about, sides=told)
        for conflict in report.conflicts
        if len(told := list_sides(conflict.quote_keys)) > 1
    ]
    against = [
        Disagreement(kind=DisagreementKind.CLAIM, about=claim.text, sides=told, reason=claim.reason)
        for claim in report.claims
        if claim.support is Support.CONTRADICTED and (told := list_sides(claim.quote_keys))
    ]
    return between + against
