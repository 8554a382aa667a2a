"""The build of a collection: corpus -> documents -> passages -> sparse index -> switch -> dense vectors -> switch.

A kill at any moment is safe: each step continues from what is on disk. Documents and passages are named by their content, so a
repeated step changes nothing. An index in use is not written to where the engine cannot search and write at once. The steps are
in `reading`, `indexing` and `vectors`; none of them holds more than a page of the corpus in memory.
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

RECIPE = f"passages-v4 {SPARSE_RECIPE}"
"""The name of everything that decides an index's content besides its documents and dense vectors."""

T = TypeVar("T")


class PassageEncoder(Protocol):
    """An encoder of texts as dense unit vectors. Vectors of encoders with different names must not mix."""

    @property
    def name(self) -> str:
        """The name that the index stores."""
        ...

    @property
    def size(self) -> int:
        """The number of dimensions of its vectors."""
        ...

    def encode_passages(self, texts: Sequence[str]) -> Iterable[Sequence[float]]:
        """Return one vector for each text, in order."""
        ...


@dataclass(frozen=True)
class BuildTools:
    """The stores and tools of a build. `report` is called with every step; `clock` gives the time in UTC."""

    catalogue: Catalogue
    store: DocumentStore
    index: Index
    clock: Callable[[], datetime]
    report: Callable[[Build], None]

    def note(self, build: Build, **changes: object) -> Build:
        """Store, report and return a step of the build."""
        fresh = build.model_copy(update={**changes, "updated_at": self.clock()})
        self.catalogue.keep_build(fresh)
        self.report(fresh)
        return fresh

    def live_generation_of(self, collection: str) -> Generation | None:
        """Return the index that searches of a collection use; None where there is none."""
        name = self.index.resolve(collection)
        return self.catalogue.find_generation(name) if name else None


def begin_build(catalogue: Catalogue, collection: str, now: datetime) -> Build:
    """Begin a new build, which reads the corpus. It takes over unfinished dense vectors of the last build."""
    last = catalogue.find_build(collection)
    number = last.number + 1 if last else 1
    partial = last.generation if last and last.phase is BuildPhase.ENCODING else ""
    fresh = Build(
        collection=collection, number=number, phase=BuildPhase.READING, generation=partial, started_at=now, updated_at=now
    )
    catalogue.keep_build(fresh)
    return fresh


def passage_id(document: str, start: int, end: int) -> int:
    """Return the number of a passage in an index. Its content decides it, so that writing it twice leaves one point."""
    return int(content_key(document, str(start), str(end)), 16)


def index_text(title: str, text: str) -> str:
    """Return the indexed text of a passage, which begins with its document's title as context for the search."""
    return f"{title}\n{text}"


def split_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of `size`; the last list may be shorter."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
