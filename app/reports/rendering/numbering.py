"""Number the citations of a whole report: numbers follow the first appearance over all its sections."""

import re
from typing import NamedTuple

from app.domain.citations import MARKER, Citation, CitationStore
from app.domain.report import Report
from app.reports.rendering.links import remove_foreign_links
from app.reports.rendering.marks import add_places

# The separator between bodies while they are numbered together. No writer can produce it: control characters are removed from
# bodies.
SEAM = "\n\x1e\n"
LOOKS_CITED = re.compile(r"(?<!\[)\[(\d{1,4})\](?!\])")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Numbering(NamedTuple):
    """Section bodies with numbers for markers, in the report's order, the citations, and the markers that have no quote.

    A body has a place at the end of each claim that gets a mark; see `marks`.
    """

    bodies: tuple[str, ...]
    citations: tuple[Citation, ...]
    unresolved: tuple[str, ...]


def number_citations(report: Report) -> Numbering:
    """Number the report's citations; first remove from its bodies what looks like a citation or links elsewhere."""
    cited = {key.strip() for section in report.sections for key in MARKER.findall(section.body)}
    addresses = frozenset(quote.source.url for quote in report.quotes if quote.key in cited)
    bodies = [_disarm_body(body, addresses) for body in add_places(report)]
    result = CitationStore(report.quotes).number(SEAM.join(bodies))
    # A report without sections has no bodies to split.
    split = tuple(body.strip("\n") for body in result.text.split(SEAM)) if bodies else ()
    return Numbering(split, result.citations, result.unresolved)


def _disarm_body(body: str, addresses: frozenset[str]) -> str:
    """Write a literal [3] of a source's sentence as (3): it would read as our third citation."""
    return LOOKS_CITED.sub(r"(\1)", remove_foreign_links(CONTROLS.sub("", body), addresses))
