"""The interface of a hybrid index. One test suite runs against its two adapters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple, Protocol, TypeAlias

from app.domain.errors import ToolError
from retrieval.index.sparse import SparseVector
from retrieval.ports import SearchFilter

EVERYTHING = SearchFilter()


class IndexDamaged(ToolError):
    """An index exists and cannot be opened; its collection must be built again."""


class IndexedPassage(NamedTuple):
    """One point. `document` is the key of the passage's document, `start` and `end` are offsets into its snapshot.

    An empty `tenant` means that the point belongs to no tenant.
    """

    id: int
    sparse: SparseVector
    document: str
    start: int
    end: int
    language: str
    tenant: str = ""
    published: date | None = None

    def to_payload(self) -> dict[str, str | int]:
        """Return the stored payload. The date is a day number (1 = 1 January of the year 1), absent when unknown."""
        kept: dict[str, str | int] = self._asdict()
        del kept["id"], kept["sparse"], kept["published"]
        return kept | ({"published": self.published.toordinal()} if self.published else {})


KEYWORDS = ("document", "language", "tenant")
"""Payload fields that are matched exactly."""
DAYS = "published"
"""The payload field that is matched by a range of day numbers."""


Hits: TypeAlias = Mapping[int, float]
"""The found points of a query, best first, each with the score of the vector that found it."""


class PassagePlace(NamedTuple):
    """The place of a point's text: `[start, end)` in the snapshot of `document`."""

    id: int
    document: str
    start: int
    end: int


class HybridHits(NamedTuple):
    """The results of both halves of a hybrid query."""

    sparse: Hits
    dense: Hits


@dataclass(frozen=True)
class HybridQuery:
    """A query of an index. A vector that is None or empty is not searched. The collections of `where` have no effect here."""

    sparse: SparseVector
    dense: Sequence[float] | None
    limit: int
    where: SearchFilter = EVERYTHING


class Index(Protocol):
    """Named indexes of passages, and aliases to them.

    One process writes an index; once an alias points at it, another process reads it. Writing the same point again replaces it.
    Written points are on disk when `flush` returns.

    Raises:
        NotFound: the named index does not exist.
        IndexDamaged: the index exists and cannot be opened.
        ToolError: a server does not answer.
    """

    def create(self, name: str, forgets: bool = False) -> None:
        """Make an empty index, and replace one of this name. With `forgets`, `optimize` removes deleted points from the disk."""
        ...

    def derive(self, base: str, name: str) -> str:
        """Make a writable index with the content of `base`.

        Return its name: `name`, or `base` itself where the engine can change an index while it is searched.
        """
        ...

    def upsert(self, name: str, passages: Sequence[IndexedPassage]) -> None:
        """Add or replace points."""
        ...

    def set_dense(self, name: str, vectors: Iterable[tuple[int, Sequence[float]]]) -> None:
        """Give existing points their dense vectors."""
        ...

    def begin_dense(self, name: str, size: int) -> None:
        """Prepare for unit vectors of `size` dimensions, compared by cosine, and drop all existing ones."""
        ...

    def list_without_dense(self, name: str, limit: int, after: int = -1) -> Sequence[PassagePlace]:
        """Return up to `limit` points without a dense vector and with a number above `after`, in the order of numbers."""
        ...

    def delete_documents(self, name: str, documents: Sequence[str]) -> None:
        """Remove all points of these documents."""
        ...

    def query(self, name: str, query: HybridQuery) -> HybridHits:
        """Search by both vectors. The result has only numbers and scores, since most candidates are never shown."""
        ...

    def compare(self, name: str, vector: Sequence[float], ids: Sequence[int]) -> Hits:
        """Return the exact scores of these points by their dense vectors, without points that have none."""
        ...

    def find_places(self, name: str, ids: Sequence[int]) -> dict[int, PassagePlace]:
        """Return the places of these points' texts, without points that do not exist; some may come from memory."""
        ...

    def read_places(self, name: str, ids: Sequence[int]) -> dict[int, PassagePlace]:
        """Do the same, but read all of them from the index: a verification trusts no memory."""
        ...

    def count(self, name: str) -> int:
        """Count the points."""
        ...

    def count_dense(self, name: str) -> int:
        """Count the points that have a dense vector."""
        ...

    def flush(self, name: str) -> None:
        """Write everything to disk."""
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

    def list_names(self) -> Sequence[str]:
        """Return all indexes, in alphabetical order, without aliases."""
        ...

    def switch(self, alias: str, name: str) -> None:
        """Point `alias` at `name`, in one step."""
        ...

    def resolve(self, alias: str) -> str | None:
        """Return the index that `alias` points at; None where there is none."""
        ...

    def unalias(self, alias: str) -> None:
        """Remove an alias, if it exists."""
        ...
