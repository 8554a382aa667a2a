"""One numbering for a whole report: numbers follow the first appearance over all its sections."""

import re
from typing import NamedTuple

from app.domain.citations import MARKER, Citation, CitationStore
from app.domain.report import Report
from app.reports.rendering.links import without_foreign_links
from app.reports.rendering.marks import with_places

# Between bodies while they are numbered together; no writer can produce it, since control characters are removed from bodies.
SEAM = "\n\x1e\n"
LOOKS_CITED = re.compile(r"(?<!\[)\[(\d{1,4})\](?!\])")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Numbering(NamedTuple):
    """Section bodies with numbers for markers, in the report's order, the citations, and markers that resolved to nothing.

    Where a claim ends that has something to be said about, a body carries its place; see `marks`.
    """

    bodies: tuple[str, ...]
    citations: tuple[Citation, ...]
    unresolved: tuple[str, ...]


def numbered(report: Report) -> Numbering:
    """Number the report's citations, after taking out of its bodies what could pass for a citation or lead elsewhere."""
    cited = {key.strip() for section in report.sections for key in MARKER.findall(section.body)}
    addresses = frozenset(quote.source.url for quote in report.quotes if quote.key in cited)
    bodies = [_plain(body, addresses) for body in with_places(report)]
    result = CitationStore(report.quotes).number(SEAM.join(bodies))
    # Only what a body cites is split off again: a report without sections has no bodies at all.
    split = tuple(body.strip("\n") for body in result.text.split(SEAM)) if bodies else ()
    return Numbering(split, result.citations, result.unresolved)


def _plain(body: str, addresses: frozenset[str]) -> str:
    """A literal [3] in a source's sentence would read as our third citation, so it is written (3)."""
    return LOOKS_CITED.sub(r"(\1)", without_foreign_links(CONTROLS.sub("", body), addresses))
