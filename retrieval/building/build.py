"""Building a collection: corpus -> documents -> passages -> sparse index -> switch -> dense vectors -> switch.

Each step can be cut off at any moment (kill -9) and goes on from what is on disk: documents and passages are named by their
content, so doing a step again changes nothing. What is being searched is never written to where the engine cannot do both.
The steps are in `reading`, `indexing` and `encoding`; nothing in them holds more than a page of the corpus in memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Protocol, TypeVar

from app.domain.evidence import content_key
from retrieval.index.ports import Index
from retrieval.index.sparse import RECIPE as SPARSE_RECIPE
from retrieval.store.catalogue import Build, BuildPhase, Catalogue, Generation
from retrieval.store.documents import DocumentStore

RECIPE = f"passages-v2 {SPARSE_RECIPE}"
"""Names all that fixes what an index of some documents holds, but for its dense vectors."""

T = TypeVar("T")


class PassageEncoder(Protocol):
    """Turns texts into dense unit vectors; `name` tells apart encoders whose vectors do not mix."""

    @property
    def name(self) -> str:
        """Kept with the index."""
        ...

    @property
    def size(self) -> int:
        """Dimensions of its vectors."""
        ...

    def passages(self, texts: Sequence[str]) -> Iterable[Sequence[float]]:
        """One vector a text, in order."""
        ...


@dataclass(frozen=True)
class Workshop:
    """What a build works with. `report` is told of every step; `clock` gives the time in UTC."""

    catalogue: Catalogue
    store: DocumentStore
    index: Index
    clock: Callable[[], datetime]
    report: Callable[[Build], None]

    def note(self, build: Build, **changes: object) -> Build:
        """Store and report a step of the build; returns it."""
        fresh = build.model_copy(update={**changes, "updated_at": self.clock()})
        self.catalogue.keep_build(fresh)
        self.report(fresh)
        return fresh

    def live(self, collection: str) -> Generation | None:
        """The index that searches of a collection use, if any."""
        name = self.index.resolve(collection)
        return self.catalogue.generation(name) if name else None


def begin_build(catalogue: Catalogue, collection: str, now: datetime) -> Build:
    """A new build, which reads the corpus (again). It takes over dense vectors that the last one left half done."""
    last = catalogue.build(collection)
    number = last.number + 1 if last else 1
    partial = last.generation if last and last.phase is BuildPhase.ENCODING else ""
    fresh = Build(
        collection=collection, number=number, phase=BuildPhase.READING, generation=partial, started_at=now, updated_at=now
    )
    catalogue.keep_build(fresh)
    return fresh


def passage_id(document: str, start: int, end: int) -> int:
    """The number of a passage in an index, fixed by its content: writing it twice leaves one point."""
    return int(content_key(document, str(start), str(end)), 16)


def index_text(title: str, text: str) -> str:
    """What is indexed for a passage: its document's title is context for the search, not part of the text."""
    return f"{title}\n{text}"


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of `size`; the last may be shorter."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
