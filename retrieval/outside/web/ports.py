"""The interface of a search provider, which writes a request and reads an answer, and does nothing else."""

import re
from collections.abc import Sequence
from datetime import date
from html import unescape
from typing import NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict

from app.domain.query import Language
from app.domain.value import Value
from retrieval.outside.http import HttpRequest
from retrieval.outside.provider import Provider

_BLOCK = re.compile(r"</?(?:jats:)?(?:p|br|div|li|ul|ol|sec|title|h[1-6])\b[^<>]{0,200}>", re.IGNORECASE)
_POWER = re.compile(r"(?<=\d)\s*<(?:jats:)?sup>\s*([+\-−]?\d+)\s*</(?:jats:)?sup>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")


class SearchQuery(NamedTuple):
    """A query with the wanted number of results. The dates are inclusive.

    Not every provider can filter by dates, so the caller checks each result's date.
    """

    text: str
    limit: int
    language: Language = Language.ENGLISH
    since: date | None = None
    until: date | None = None

    def days(self, first: str, last: str) -> tuple[str, str]:
        """Return both dates as `YYYY-MM-DD`; `first` and `last` stand for open ones."""
        return (self.since.isoformat() if self.since else first, self.until.isoformat() if self.until else last)

    @property
    def dated(self) -> bool:
        """Whether the query has a date."""
        return self.since is not None or self.until is not None


class SearchHit(Value):
    """One result: an address, and the provider's text of it. The flags are true only where the provider says so."""

    url: str
    title: str
    text: str
    kind: str = "web"
    published: date | None = None
    author: str = ""
    doi: str = ""
    venue: str = ""
    licence: str = ""
    retracted: bool = False
    preprint: bool = False


class ProviderReply(BaseModel):
    """The base of providers' answers. They declare, and check, only the fields that are read."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class SearchProvider(Protocol):
    """One service that can be searched."""

    @property
    def provider(self) -> Provider:
        """Its name and limits."""
        ...

    @property
    def languages(self) -> frozenset[Language]:
        """The languages it serves well."""
        ...

    def build_request(self, query: SearchQuery) -> HttpRequest:
        """Write the request of a query."""
        ...

    def read(self, body: bytes) -> Sequence[SearchHit]:
        """Read an answer, best result first.

        Raises:
            ValueError: it is not the provider's protocol.
            CallFailed: it says that the provider could not search.
        """
        ...


def strip_markup(text: str | None) -> str:
    """Turn a snippet into plain text on one line: without markup, with entities resolved, and 10<sup>6</sup> as 10^6."""
    return " ".join(unescape(_TAG.sub("", _BLOCK.sub(" ", _POWER.sub(r"^\1", text or "")))).split())
