"""A search provider: it writes a request and reads an answer, and does nothing else."""

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
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")


class SearchQuery(NamedTuple):
    """What to look for, and how many results are wanted; the dates are inclusive. A provider does what it can with the dates:
    whoever asks looks at each result's own."""

    text: str
    limit: int
    language: Language = Language.ENGLISH
    since: date | None = None
    until: date | None = None

    def days(self, first: str, last: str) -> tuple[str, str]:
        """Both dates as `YYYY-MM-DD`; these words for one that is open."""
        return (self.since.isoformat() if self.since else first, self.until.isoformat() if self.until else last)

    @property
    def dated(self) -> bool:
        """Whether it has a date at all."""
        return self.since is not None or self.until is not None


class Hit(Value):
    """One result: an address and the text the provider shows of it. The flags are true only where the provider says so."""

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


class Reply(BaseModel):
    """The base of what providers answer: only the fields that are read are declared, and those must have their types."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class SearchProvider(Protocol):
    """One service that can be searched. `languages` are those it serves well."""

    @property
    def provider(self) -> Provider:
        """Its name and limits."""
        ...

    @property
    def languages(self) -> frozenset[Language]:
        """The languages it serves well."""
        ...

    def request(self, query: SearchQuery) -> HttpRequest:
        """What to send it."""
        ...

    def read(self, body: bytes) -> Sequence[Hit]:
        """What it answered, best first; `ValueError` when that is not its protocol."""
        ...


def plain(text: str | None) -> str:
    """A snippet as plain text on one line: markup removed, entities resolved."""
    return " ".join(unescape(_TAG.sub("", _BLOCK.sub(" ", text or ""))).split())
