"""The interface of a search provider, which writes a request and reads an answer, and does nothing else."""

import re
from collections.abc import Collection, Sequence
from datetime import date
from html import unescape
from typing import Any, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, ValidatorFunctionWrapHandler, field_validator
from pydantic_core import from_json

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
    """The base of one result of a provider and of its parts. They declare, and check, only the fields that are read.

    A field with a default that comes in another form (null, a text for a list) is absent; of a list or an object only the odd
    entries are. A field without a default is one without which the result cannot be used.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)

    @field_validator("*", mode="wrap")
    @classmethod
    def _leave_out_odd(cls, value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        try:
            return read(value)
        except ValidationError as error:
            field = cls.model_fields[str(info.field_name)]
            if field.is_required():
                raise
            odd = {str(problem["loc"][0]) for problem in error.errors() if problem["loc"]}
        try:
            return read(_remove_entries(value, odd)) if odd else field.get_default()
        except ValidationError:
            return field.get_default()


def _remove_entries(value: Any, odd: Collection[str]) -> Any:
    """Return a list without the entries at the places `odd`, or an object without these names."""
    if isinstance(value, list):
        return [entry for place, entry in enumerate(value) if str(place) not in odd]
    return {name: entry for name, entry in value.items() if name not in odd} if isinstance(value, dict) else value


def find_results(body: bytes, path: Sequence[str], signs: Collection[str]) -> list[Any]:
    """Return the raw results at `path` of an answer in JSON.

    There are none where the list is missing or null in an answer that has another of the provider's own fields, its `signs`.

    Raises:
        ValueError: it is not the provider's protocol.
    """
    answer = from_json(body)
    if not isinstance(answer, dict) or answer.keys().isdisjoint((path[0], *signs)):
        raise ValueError("the answer is another service's")
    if answer.get(path[0]) is None and answer.get("error"):
        raise ValueError("the answer is an error")
    place: Any = answer
    for name in path:
        if not isinstance(place, dict):
            raise ValueError(f"{name!r} is not in an object")
        place = place.get(name)
        if place is None:
            return []
    if not isinstance(place, list):
        raise ValueError("the results are no list")
    return place


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

    def list_results(self, body: bytes) -> Sequence[Any]:
        """Return the raw results of an answer, the best first.

        Raises:
            ValueError: it is not the provider's protocol.
            CallFailed: it says that the provider could not search.
        """
        ...

    def read_result(self, raw: Any) -> SearchHit:
        """Read one result. Raises `ValueError` when it has not what a result needs."""
        ...


def strip_markup(text: str | None) -> str:
    """Turn a snippet into plain text on one line: without markup, with entities resolved, and 10<sup>6</sup> as 10^6."""
    return " ".join(unescape(_TAG.sub("", _BLOCK.sub(" ", _POWER.sub(r"^\1", text or "")))).split())
