"""Describe the cited sources for reference managers: each once, as CSL-JSON, from which the other formats are made.

CSL-JSON is https://docs.citationstyles.org/en/stable/specification.html (variables in its appendices); the quotations are in
`note`, so that it stays with the source.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from datetime import date

from pydantic import BaseModel, ConfigDict, Field

from app.domain.citations import Citation
from app.domain.evidence import Source
from app.exports.service.clean import one_line
from app.reports.rendering.links import is_web, place_of

PAPERS, NEWS = ("paper",), ("news",)
NOTE_CHARS = 2_000


class Name(BaseModel):
    """An author as the source gives it: family and given name are not told apart by guessing."""

    literal: str


class Day(BaseModel):
    """A date."""

    model_config = ConfigDict(populate_by_name=True)

    parts: list[list[int]] = Field(serialization_alias="date-parts")


class CslItem(BaseModel):
    """One source."""

    id: str
    type: str
    title: str
    author: list[Name] | None = None
    issued: Day | None = None
    accessed: Day | None = None
    container_title: str | None = Field(default=None, serialization_alias="container-title")
    doi: str | None = Field(default=None, serialization_alias="DOI")
    url: str | None = Field(default=None, serialization_alias="URL")
    note: str = ""


def csl_items(citations: Iterable[Citation], untitled: str) -> list[CslItem]:
    """Return the sources in the order in which they are first cited; `untitled` replaces an unknown title."""
    by_source: dict[str, list[Citation]] = {}
    for citation in citations:
        by_source.setdefault(citation.quote.source.url, []).append(citation)
    return [_item(cited, untitled) for cited in by_source.values()]


def _item(cited: list[Citation], untitled: str) -> CslItem:
    source = cited[0].quote.source
    author, venue = one_line(source.author), one_line(source.venue)
    return CslItem(
        id=_key(source),
        type=_type(source),
        title=one_line(source.title) or untitled,
        author=[Name(literal=author)] if author else None,
        issued=_day(source.published),
        accessed=_day(source.fetched),
        container_title=venue or None,
        doi=one_line(source.doi) or None,
        url=source.url if is_web(source.url) else None,
        note=_note(cited, source),
    )


def _note(cited: list[Citation], source: Source) -> str:
    """Return the quotations with their numbers; a source without a web address is named by its place."""
    quoted = "; ".join(f"[{citation.n}] “{one_line(citation.quote.text)}”" for citation in cited)
    place = "" if is_web(source.url) else one_line(place_of(source))
    place = f"{place}; " if place else ""
    status = "retracted; " if source.retracted else ""
    note = f"{status}{place}{quoted}"
    return note if len(note) <= NOTE_CHARS else note[: NOTE_CHARS - 1] + "…"


def _type(source: Source) -> str:
    if source.kind in PAPERS or source.doi:
        return "article-journal" if source.venue and not source.preprint else "article"
    if source.kind == "speech":
        return "speech"
    return "webpage" if is_web(source.url) else "document"


def _key(source: Source) -> str:
    """Return a key such as `jackson1832-3f2a1c`: readable, and the same in every export and version."""
    words = re.findall(r"[a-z]{3,}", _ascii(source.author.split(" ")[-1] if source.author else source.title).lower())
    year = str(source.published.year) if source.published else ""
    return f"{words[0][:20] if words else 'source'}{year}-{hashlib.sha256(source.url.encode()).hexdigest()[:6]}"


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def _day(day: date | None) -> Day | None:
    return Day(parts=[[day.year, day.month, day.day]]) if day else None
