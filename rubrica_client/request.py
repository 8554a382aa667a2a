"""A call of the API as a value: what is sent, and what comes back. Both clients send the same value."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import IO, Any, Generic, Self, TypeVar, cast
from uuid import uuid4

from pydantic import BaseModel, ValidationError

from rubrica_client.errors import UNREADABLE, Unreadable
from rubrica_client.paths import Part, join_path

A = TypeVar("A", covariant=True)
M = TypeVar("M", bound=BaseModel)
Files = Sequence[tuple[str, bytes | IO[bytes]]]
Query = Mapping[str, str | int | date | None]

IDEMPOTENCY_HEADER = "Idempotency-Key"
# Time limits of calls that ask a model, make a file, send mail or upload files.
DRAFTING = timedelta(seconds=110)
EXPORT = timedelta(seconds=60)
MAIL = timedelta(seconds=20)
UPLOAD = timedelta(minutes=10)


@dataclass(frozen=True)
class Request(Generic[A]):
    """A call that is answered with an `A`: a model, `bytes`, `str`, or nothing (`type(None)`).

    `parts` are the words and ids of the path, which is made here and nowhere else. `timeout` is the longest silence to wait
    through where it is longer than the client's own; `files` are names with contents.

    Raises:
        NotFound: a part of the path has not the form of an id.
    """

    method: str
    parts: tuple[Part, ...]
    answer: type[A]
    query: Query = field(default_factory=dict)
    body: BaseModel | Mapping[str, Any] | None = None
    files: Files = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: timedelta | None = None
    path: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", join_path(self.parts))

    @property
    def repeatable(self) -> bool:
        """True if it is harmless to send it again: it only reads, or its idempotency key makes the API carry it out once."""
        return self.method == "GET" or IDEMPOTENCY_HEADER in self.headers

    def with_key(self, key: str = "") -> Self:
        """Return the call with an idempotency key, a new one by default. Calls that return a secret once take none."""
        return replace(self, headers={**self.headers, IDEMPOTENCY_HEADER: key or str(uuid4())})

    def page(self, before: object) -> Self:
        """Return the call for the page that follows: `before` is the `next` of the page at hand."""
        return replace(self, query={**self.query, "before": cast(str, before)})

    def options(self) -> dict[str, Any]:
        """Return the arguments for the HTTP library, but for time limits."""
        found: dict[str, Any] = {"headers": dict(self.headers), "params": _as_text(self.query)}
        if self.files:
            found["files"] = [("file", file) for file in self.files]
        elif self.body is not None:
            found["content"] = _as_json(self.body)
            found["headers"]["Content-Type"] = "application/json"
        return found

    def read(self, content: bytes) -> A:
        """Return the answer from its bytes.

        Raises:
            Unreadable: they are something else.
        """
        kind: type[Any] = self.answer
        if issubclass(kind, BaseModel):
            return cast(A, read(kind, content))
        if kind is str:
            return cast(A, content.decode(errors="replace"))
        return cast(A, content if kind is bytes else None)


def read(kind: type[M], content: bytes | str) -> M:
    """Return the model that a JSON text stands for. Fields that it does not know are left out.

    Raises:
        Unreadable: it is something else.
    """
    try:
        return kind.model_validate_json(content, extra="ignore")
    except ValidationError as error:
        raise Unreadable(UNREADABLE, str(error.errors()[0]["msg"])) from error


def _as_text(query: Query) -> dict[str, str]:
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return {name: value.isoformat() if isinstance(value, date) else str(value) for name, value in given.items()}


def _as_json(body: BaseModel | Mapping[str, Any]) -> bytes:
    """Return the body as JSON, without fields that were not set, so that the API's own defaults hold for them."""
    return (body.model_dump_json(exclude_unset=True) if isinstance(body, BaseModel) else json.dumps(body)).encode()
