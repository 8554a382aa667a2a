"""Number the citations of a whole report: numbers follow the first appearance over all its sections."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from app.domain.citations import KEY_MARKER, MARKER, Citation, CitationStore
from app.domain.code import HiddenCode, hide_code
from app.domain.report import Report
from app.reports.rendering.links import leads_elsewhere, remove_foreign_links
from app.reports.rendering.marks import add_places

# The separator between bodies while they are numbered together. No writer can produce it: control characters are removed from
# bodies.
SEAM = "\n\x1e\n"
LOOKS_CITED = re.compile(r"(?<!\[)\[(\d{1,4})\](?!\])")
NAMES_ADDRESS = re.compile(r"^((?:[ \t>*+-]|\d+[.)])*\[\d{1,4}\]):", re.MULTILINE)
LABELS_LINK = re.compile(r"(\[\d{1,4}\])\(")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Numbering(NamedTuple):
    """Section bodies with numbers for markers, in the report's order, the citations, and the markers that have no quote.

    A body has a place at the end of each claim that gets a mark; see `marks`.
    """

    bodies: tuple[str, ...]
    citations: tuple[Citation, ...]
    unresolved: tuple[str, ...]


def number_citations(report: Report) -> Numbering:
    """Number the citations; first remove from the bodies, but not from code, what looks like a citation or links elsewhere."""
    cited = {key.strip() for section in report.sections for key in MARKER.findall(section.body)}
    addresses = frozenset(quote.source.url for quote in report.quotes if quote.key in cited)
    codes = [hide_code(CONTROLS.sub("", body), KEY_MARKER) for body in add_places(report)]
    bodies = [_disarm_text(code.text, addresses) for code in codes]
    result = CitationStore(report.quotes).number(SEAM.join(bodies))
    # A report without sections has no bodies to split.
    split = [_disarm_numbers(body).strip("\n") for body in result.text.split(SEAM)] if bodies else []
    whole = tuple(_put_code_back(body, code, addresses) for body, code in zip(split, codes, strict=True))
    return Numbering(whole, result.citations, result.unresolved)


def group_by_document(citations: Iterable[Citation]) -> list[list[Citation]]:
    """Group citations by the stored copy that they quote, in the order in which each is first cited."""
    documents: dict[tuple[str, str], list[Citation]] = {}
    for citation in citations:
        source = citation.quote.source
        documents.setdefault((source.url, source.snapshot), []).append(citation)
    return list(documents.values())


def _disarm_text(text: str, addresses: frozenset[str]) -> str:
    """Write a literal [3] of a source's sentence as (3): it would read as our third citation."""
    return LOOKS_CITED.sub(r"(\1)", remove_foreign_links(text, addresses))


def _disarm_numbers(body: str) -> str:
    """Write what follows a number as text: `[1]: word` on a line of its own, and `[1](word)`, would make a link of it."""
    return LABELS_LINK.sub(r"\1 (", NAMES_ADDRESS.sub(r"\1\:", body))


def _put_code_back(body: str, code: HiddenCode, addresses: frozenset[str]) -> str:
    """Return the body with its code; the code disarmed too if a reader's program would take some of it for a link or HTML."""
    whole = code.put_back(body)
    disarmed = code._replace(pieces=[_disarm_text(piece, addresses) for piece in code.pieces])
    if disarmed == code or not leads_elsewhere(whole, addresses):
        return whole
    return disarmed.put_back(body)
