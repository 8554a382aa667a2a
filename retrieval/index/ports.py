"""What the product needs from a hybrid index. Two adapters answer it alike; one test suite proves it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple, Protocol, TypeAlias

from app.domain.errors import ToolError
from retrieval.index.sparse import SparseVector
from retrieval.ports import SearchFilter

EVERYTHING = SearchFilter()


class IndexDamaged(ToolError):
    """An index is there and cannot be opened: its collection has to be built again."""


class IndexedPassage(NamedTuple):
    """One point. `document` is the key of the passage's document, `start` and `end` are offsets into its snapshot.

    An empty `tenant` means that it belongs to none.
    """

    id: int
    sparse: SparseVector
    document: str
    start: int
    end: int
    language: str
    tenant: str = ""
    published: date | None = None

    def payload(self) -> dict[str, str | int]:
        """What an index keeps with the point. The date is a day number (1 = 1 January of the year 1), absent when unknown."""
        kept: dict[str, str | int] = self._asdict()
        del kept["id"], kept["sparse"], kept["published"]
        return kept | ({"published": self.published.toordinal()} if self.published else {})


KEYWORDS = ("document", "language", "tenant")
"""Payload fields that are matched as they are."""
DAYS = "published"
"""The payload field with a range of day numbers."""


Hits: TypeAlias = Mapping[int, float]
"""Points that a query found, best first, each with the score of the vector that found it."""


class Place(NamedTuple):
    """Where a point's text stands: `[start, end)` in the snapshot of `document`."""

    id: int
    document: str
    start: int
    end: int


class Candidates(NamedTuple):
    """Both halves of a hybrid query."""

    sparse: Hits
    dense: Hits


@dataclass(frozen=True)
class HybridQuery:
    """What to look for. A vector that is None or empty is not searched; of `where`, collections mean nothing inside an index."""

    sparse: SparseVector
    dense: Sequence[float] | None
    limit: int
    where: SearchFilter = EVERYTHING


class Index(Protocol):
    """Named indexes of passages, and aliases to them.

    An index is written by one process and, once an alias points at it, read by another. Writing the same point again
    replaces it. What was written is on disk when `flush` returns.

    Raises:
        NotFound: the named index does not exist.
        IndexDamaged: it exists and cannot be opened.
        ToolError: a server does not answer.
    """

    def create(self, name: str, forgets: bool = False) -> None:
        """Make an empty index, replacing one of this name. With `forgets`, `optimize` takes what was deleted off the disk."""
        ...

    def derive(self, base: str, name: str) -> str:
        """A writable index that starts with all that `base` holds.

        Returns its name: `name`, or `base` itself where the engine can change an index while it is searched.
        """
        ...

    def upsert(self, name: str, passages: Sequence[IndexedPassage]) -> None:
        """Add or replace points."""
        ...

    def set_dense(self, name: str, vectors: Iterable[tuple[int, Sequence[float]]]) -> None:
        """Give existing points their dense vectors."""
        ...

    def begin_dense(self, name: str, size: int) -> None:
        """Make room for unit vectors of `size` dimensions, compared by cosine. Those there are, of any size, are dropped."""
        ...

    def without_dense(self, name: str, limit: int, after: int = -1) -> Sequence[Place]:
        """Up to `limit` points that have no dense vector yet and a number above `after`, in the order of their numbers."""
        ...

    def delete_documents(self, name: str, documents: Sequence[str]) -> None:
        """Remove all points of these documents."""
        ...

    def query(self, name: str, query: HybridQuery) -> Candidates:
        """Search by both vectors. Only numbers and scores come back: most candidates are never shown."""
        ...

    def places(self, name: str, ids: Sequence[int]) -> dict[int, Place]:
        """Where these points' texts stand; a point that is not there is left out."""
        ...

    def count(self, name: str) -> int:
        """Number of points."""
        ...

    def count_dense(self, name: str) -> int:
        """Number of points that have a dense vector."""
        ...

    def flush(self, name: str) -> None:
        """Put on disk what was written."""
        ...

    def optimize(self, name: str) -> None:
        """Build the search structures; call when the writing is done."""
        ...

    def close(self, name: str) -> None:
        """Let go of an index; a query under way still finishes."""
        ...

    def drop(self, name: str) -> None:
        """Delete an index, if it exists."""
        ...

    def names(self) -> Sequence[str]:
        """All indexes, in alphabetical order, without aliases."""
        ...

    def switch(self, alias: str, name: str) -> None:
        """Point `alias` at `name`, in one step."""
        ...

    def resolve(self, alias: str) -> str | None:
        """The index that `alias` points at, if any."""
        ...

    def unalias(self, alias: str) -> None:
        """Remove an alias, if it exists."""
        ...
