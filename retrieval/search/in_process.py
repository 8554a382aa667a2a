"""Retrieval without a service: this process opens a home's indexes itself, for tests, benchmarks and `LocalStages`."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from app.domain.errors import InvalidInput, NotFound, SetupError, ToolError
from app.domain.evidence import Passage
from retrieval.building.build import RECIPE
from retrieval.building.builder import run_build
from retrieval.encoding.answer_rater import AnswerRater
from retrieval.encoding.encoder import Encoder, EncoderOnFirstUse
from retrieval.ports import Document, SearchFilter
from retrieval.search.library import DEFAULT_COLLECTION, Library
from retrieval.search.screened import mark_screened
from retrieval.service.owner_lock import lock_home
from retrieval.store.catalogue import Build, BuildPhase, Collection, CorpusKind
from retrieval.store.home import RetrievalHome, open_retrieval_home

SOTU = Collection(name=DEFAULT_COLLECTION, kind=CorpusKind.SOTU)


class LocalSearcher:
    """A `Searcher` and `PageReader` of indexes that this process has open. Close it, or use it in `with`."""

    def __init__(
        self,
        shelves: RetrievalHome,
        encoder: EncoderOnFirstUse | None,
        release: Callable[[], None],
        rater: AnswerRater | None = None,
    ) -> None:
        self.shelves = shelves
        self._encoder = encoder
        self._release = release
        searched = shelves.catalogue, shelves.store, shelves.index
        self.library = Library(*searched, encoder or (lambda: None), rater=lambda: rater)

    def __enter__(self) -> "LocalSearcher":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open_encoder(self) -> Encoder | None:
        """Open the encoder of the indexes; None where there is none, or it cannot be opened."""
        return self._encoder() if self._encoder else None

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        """See `Searcher.search`."""
        with _map_errors():
            found = await asyncio.to_thread(self.library.search, query, limit, where)
        return mark_screened(found, self.shelves.screened, self.library)

    async def respell(self, words: Sequence[str], where: SearchFilter) -> dict[str, str]:
        """See `Speller.respell`."""
        with _map_errors():
            return await asyncio.to_thread(self.library.respell, words, where)

    async def compare(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """See `Comparer.compare`."""
        return tuple(await asyncio.to_thread(self.library.compare, query, texts))

    async def rate(self, question: str, texts: Sequence[str]) -> tuple[float, ...]:
        """See `Rater.rate`."""
        return tuple(await asyncio.to_thread(self.library.rate, question, texts))

    async def read(self, url: str) -> Document:
        """See `PageReader.read`."""
        with _map_errors():
            return await asyncio.to_thread(self.library.read, url, ())

    def build(self, collection: Collection, report: Callable[[Build], None] = lambda _: None) -> Build:
        """Build a collection (again), with its dense vectors, and search it from then on. Blocks until it is done."""
        self.shelves.catalogue.add(collection, datetime.now(UTC))
        build = run_build(self.shelves, collection.name, True, self._encoder or (lambda: None), report)
        if build.phase is BuildPhase.FAILED:
            raise SetupError(f"{collection.name!r} could not be built: {build.detail}")
        self.library.refresh(collection.name)
        return build

    def close(self) -> None:
        """Close the stores, and let other processes open the home."""
        self.shelves.close()
        self._release()


@contextmanager
def _map_errors() -> Iterator[None]:
    try:
        yield
    except (InvalidInput, NotFound) as error:
        raise ToolError(str(error)) from error


def open_local(
    home: Path, *collections: Collection, encoder: Callable[[], Encoder] | None = None, rater: AnswerRater | None = None
) -> LocalSearcher:
    """Open a home in this process, and build missing ones of `collections` (none given: the default one). Blocks meanwhile.

    Without `encoder` there are no dense vectors, without `rater` no ratings. Raises `SetupError` when an index owner or another
    process has the home open.
    """
    release = lock_home(home)
    opened = LocalSearcher(open_retrieval_home(home), EncoderOnFirstUse(encoder) if encoder else None, release, rater)
    for collection in collections or (SOTU,):
        opened.library.refresh(collection.name)
        generation = opened.library.generation_of(collection.name)
        if generation is None or generation.recipe != RECIPE or (encoder and not generation.dense):
            opened.build(collection)
    return opened
