"""From a report to what readers get: Markdown, a self-contained page, and the evidence behind every citation."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from app.domain.citations import Citation
from app.domain.report import Report
from app.domain.run import Run, RunStatus
from app.services.rendering.numbering import Numbering, numbered
from app.services.rendering.page import to_page
from app.services.rendering.text import to_markdown
from app.storage.reports import Surroundings
from app.storage.run_log import Renderings

UNKNOWN = Surroundings("", "")
IDEOGRAPH = re.compile("[\u4e00-\u9fff]")


class Rendered(NamedTuple):
    """Everything a finished report is stored as; `told` is the payload of the event `report_ready`."""

    renderings: Renderings
    evidence: dict[str, Any]
    told: dict[str, Any]


def render(report: Report, run: Run, surroundings: Mapping[str, Surroundings] | None = None) -> Rendered:
    """Number the citations and write the report down. `surroundings` gives, by quote key, the text around each quote.

    A marker without a quote is left out and counted; no link is kept that does not lead to a cited source.
    """
    numbering = numbered(report)
    language = run.query.language
    around = {c.n: (surroundings or {}).get(c.quote.key, UNKNOWN) for c in numbering.citations}
    markdown = to_markdown(report, numbering, run.query.question, language)
    page = to_page(report, numbering, run.query.question, language, around)
    return Rendered(Renderings(markdown, page), _evidence(run, numbering.citations), _told(numbering))


def _evidence(run: Run, citations: tuple[Citation, ...]) -> dict[str, Any]:
    """The content of evidence.json; offsets count characters of the snapshot."""
    return {
        "run_id": str(run.id),
        "question": run.query.question,
        "status": RunStatus.COMPLETED.value,
        "usage": run.usage.model_dump(),
        "citations": [_cited(citation) for citation in citations],
    }


def _cited(citation: Citation) -> dict[str, Any]:
    quote = citation.quote
    source = {"title": quote.source.title, "url": quote.source.url, "snapshot": quote.source.snapshot}
    return {"n": citation.n, "quote": quote.text, "start": quote.start, "end": quote.end, "source": source}


def _told(numbering: Numbering) -> dict[str, Any]:
    return {
        "sections": len(numbering.bodies),
        "citations": len(numbering.citations),
        "words": sum(_words(body) for body in numbering.bodies),
        "unresolved_citations": len(numbering.unresolved),
    }


def _words(text: str) -> int:
    """Words of a text; each CJK ideograph counts as one, as is usual for Chinese."""
    spaced, ideographs = (text, 0) if text.isascii() else IDEOGRAPH.subn(" ", text)
    return ideographs + len(spaced.split())
