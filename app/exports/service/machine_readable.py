"""Write a report as JSON for other programs: its sections with citation numbers, and the citations."""

from typing import Any

import orjson

from app.exports.service.composing import Manuscript
from app.exports.service.references import csl_items_of
from app.reports.rendering import describe_citation, describe_claims
from app.reports.rendering.marks import mark_text
from app.reports.rendering.notices import list_notices
from app.reports.rendering.numbering import number_citations
from app.reports.rendering.words import WORDS


def to_json(manuscript: Manuscript) -> bytes:
    """Return one object; `citations` and `claims` are those of evidence.json, `references` is CSL-JSON."""
    report, numbering, words = manuscript.report, number_citations(manuscript.report), WORDS[manuscript.language]
    numbers = {citation.quote.key: citation.n for citation in numbering.citations}
    sections = [
        {"heading": section.heading, "level": section.level, "markdown": mark_text(body, report.claims)}
        for section, body in zip(report.sections, numbering.bodies, strict=True)
    ]
    told: dict[str, Any] = {
        "title": report.title,
        "question": manuscript.question,
        "language": manuscript.language.value,
        "created_at": manuscript.finished,
        "notices": list_notices(report, numbering, words),
        "sections": sections,
        "citations": [describe_citation(citation) for citation in numbering.citations],
        "conflicts": [
            {"about": conflict.about, "citations": [numbers[key] for key in conflict.quote_keys if key in numbers]}
            for conflict in report.conflicts
        ],
        "claims": describe_claims(report, numbering.citations),
        "references": [
            item.model_dump(by_alias=True, exclude_none=True) for item in csl_items_of(numbering.citations, words.untitled)
        ],
    }
    return orjson.dumps(told, option=orjson.OPT_INDENT_2)
