"""Render a report: Markdown, a self-contained page, and the evidence behind every citation."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from app.domain.citations import Citation
from app.domain.claims import Support
from app.domain.evidence import Source
from app.domain.report import Report
from app.domain.run import Run, RunStatus
from app.domain.script import count_words
from app.domain.table_rows import find_row
from app.reports.rendering.marks import remove_places
from app.reports.rendering.numbering import Numbering, number_citations
from app.reports.rendering.page import to_page
from app.reports.rendering.text import to_markdown
from app.reports.storage.reports import Surroundings
from app.runs.storage.run_log import Renderings

UNKNOWN = Surroundings("", "")
_WORST_LAST = (Support.FULL, Support.UNJUDGED, Support.UNCITED, Support.PARTIAL, Support.NONE, Support.CONTRADICTED)


class RenderedReport(NamedTuple):
    """All forms in which a finished report is stored; `told` is the payload of the event `report_ready`."""

    renderings: Renderings
    evidence: dict[str, Any]
    told: dict[str, Any]


def render(report: Report, run: Run, surroundings: Mapping[str, Surroundings] | None = None) -> RenderedReport:
    """Number the citations and render the report. `surroundings` gives, by quote key, the text around each quote.

    A marker without a quote is left out and counted; only links to cited sources are kept.
    """
    numbering = number_citations(report)
    language = run.query.language
    around = {c.n: (surroundings or {}).get(c.quote.key, UNKNOWN) for c in numbering.citations}
    markdown = to_markdown(report, numbering, run.query.question, language)
    page = to_page(report, numbering, run.query.question, language, around)
    return RenderedReport(
        Renderings(markdown, page), _describe_evidence(run, report, numbering.citations), _payload_of(report, numbering)
    )


def _describe_evidence(run: Run, report: Report, citations: tuple[Citation, ...]) -> dict[str, Any]:
    """Return the content of evidence.json; offsets count characters of the snapshot."""
    return {
        "run_id": str(run.id),
        "question": run.query.question,
        "status": RunStatus.COMPLETED.value,
        "usage": run.usage.model_dump(),
        "citations": [describe_citation(citation) for citation in citations],
        "claims": describe_claims(report, citations),
    }


def describe_claims(report: Report, citations: tuple[Citation, ...]) -> list[dict[str, Any]]:
    """Return each claim under its section's heading, with the numbers of the citations it was judged by."""
    numbers = {citation.quote.key: citation.n for citation in citations}
    return [
        {
            "text": claim.text,
            "section": report.sections[claim.section].heading,
            "citations": [numbers[key] for key in claim.quote_keys if key in numbers],
            "support": claim.support.value,
            "reason": claim.reason,
            "judge": claim.judge,
            "weak": claim.weak,
            "unsourced": claim.unsourced,
            "row": find_row(report.sections[claim.section].body, claim.start),
        }
        for claim in report.claims
    ]


def describe_citation(citation: Citation) -> dict[str, Any]:
    """Return a citation in the form of evidence.json."""
    quote = citation.quote
    source = {"title": quote.source.title, "url": quote.source.url, "snapshot": quote.source.snapshot} | _describe_quality(
        quote.source
    )
    page = {"page": quote.page} if quote.page else {}
    return {"n": citation.n, "quote": quote.text, "start": quote.start, "end": quote.end, **page, "source": source}


def _describe_quality(source: Source) -> dict[str, Any]:
    """Return the known details that tell a good source from a weak one."""
    known = {
        "kind": source.kind,
        "published": source.published.isoformat() if source.published else "",
        "venue": source.venue,
        "doi": source.doi,
        "retracted": source.retracted,
        "preprint": source.preprint,
    }
    return {name: value for name, value in known.items() if value}


def _payload_of(report: Report, numbering: Numbering) -> dict[str, Any]:
    return {
        "sections": len(numbering.bodies),
        "citations": len(numbering.citations),
        "words": sum(count_words(remove_places(body)) for body in numbering.bodies),
        "unresolved_citations": len(numbering.unresolved),
        "claims": _count_support(report),
    }


def _count_support(report: Report) -> dict[str, int]:
    """Count the claims of each kind of support. A table's row is one claim, with the worst support of its cells."""
    rows: dict[tuple[int, str], Support] = {}
    for number, claim in enumerate(report.claims):
        row = find_row(report.sections[claim.section].body, claim.start)
        place = (claim.section, row) if row else (number, "")
        rows[place] = max(rows.get(place, claim.support), claim.support, key=_WORST_LAST.index)
    counts = Counter(rows.values())
    return {support.value: counts[support] for support in Support}
