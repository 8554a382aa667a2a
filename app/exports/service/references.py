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
from app.exports.service.clean import to_clean_line
from app.reports.rendering.links import is_web, place_of

PAPERS, NEWS = ("paper",), ("news",)
NOTE_CHARS = 2_000


class AuthorName(BaseModel):
    """An author as the source gives it: family and given name are not told apart by guessing."""

    literal: str


class DateParts(BaseModel):
    """A date."""

    model_config = ConfigDict(populate_by_name=True)

    parts: list[list[int]] = Field(serialization_alias="date-parts")


class CslItem(BaseModel):
    """One source."""

    id: str
    type: str
    title: str
    author: list[AuthorName] | None = None
    issued: DateParts | None = None
    accessed: DateParts | None = None
    container_title: str | None = Field(default=None, serialization_alias="container-title")
    doi: str | None = Field(default=None, serialization_alias="DOI")
    url: str | None = Field(default=None, serialization_alias="URL")
    note: str = ""


def csl_items_of(citations: Iterable[Citation], untitled: str) -> list[CslItem]:
    """Return the sources in the order in which they are first cited; `untitled` replaces an unknown title."""
    by_source: dict[str, list[Citation]] = {}
    for citation in citations:
        by_source.setdefault(citation.quote.source.url, []).append(citation)
    return [_item_of(cited, untitled) for cited in by_source.values()]


def _item_of(cited: list[Citation], untitled: str) -> CslItem:
    source = cited[0].quote.source
    author, venue = to_clean_line(source.author), to_clean_line(source.venue)
    return CslItem(
        id=_key_of(source),
        type=_type_of(source),
        title=to_clean_line(source.title) or untitled,
        author=[AuthorName(literal=author)] if author else None,
        issued=_day_of(source.published),
        accessed=_day_of(source.fetched),
        container_title=venue or None,
        doi=to_clean_line(source.doi) or None,
        url=source.url if is_web(source.url) else None,
        note=_note_of(cited, source),
    )


def _note_of(cited: list[Citation], source: Source) -> str:
    """Return the quotations with their numbers; a source without a web address is named by its place."""
    quoted = "; ".join(f"[{citation.n}] “{to_clean_line(citation.quote.text)}”" for citation in cited)
    place = "" if is_web(source.url) else to_clean_line(place_of(source))
    place = f"{place}; " if place else ""
    status = "retracted; " if source.retracted else ""
    note = f"{status}{place}{quoted}"
    return note if len(note) <= NOTE_CHARS else note[: NOTE_CHARS - 1] + "…"


def _type_of(source: Source) -> str:
    if source.kind in PAPERS or source.doi:
        return "article-journal" if source.venue and not source.preprint else "article"
    if source.kind == "speech":
        return "speech"
    return "webpage" if is_web(source.url) else "document"


def _key_of(source: Source) -> str:
    """Return a key such as `jackson1832-3f2a1c`: readable, and the same in every export and version."""
    words = re.findall(r"[a-z]{3,}", _to_ascii(source.author.split(" ")[-1] if source.author else source.title).lower())
    year = str(source.published.year) if source.published else ""
    return f"{words[0][:20] if words else 'source'}{year}-{hashlib.sha256(source.url.encode()).hexdigest()[:6]}"


def _to_ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def _day_of(day: date | None) -> DateParts | None:
    return DateParts(parts=[[day.year, day.month, day.day]]) if day else None
