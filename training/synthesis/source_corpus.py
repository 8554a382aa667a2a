"""A collection from which training sets are made: its documents in a fixed order, and the product's own search over them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from app.domain.errors import SetupError
from app.domain.evidence import Passage, Source
from app.domain.query import Language
from app.settings import Settings
from retrieval.encoding.encoder import Encoder, EncoderOnFirstUse
from retrieval.ports import SearchFilter
from retrieval.search.in_process import LocalSearcher
from retrieval.service.owner_lock import lock_home
from retrieval.store.documents import StoredState
from retrieval.store.home import RetrievalHome, open_retrieval_home
from training.evaluation.harness.world import open_own_encoder


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    """A document of a corpus, without its text."""

    source: Source
    language: Language


class SourceCorpus:
    """One collection of a home that this process has open. `generation` names the state of its index.

    Raises:
        SetupError: there is no such collection.
    """

    def __init__(self, local: LocalSearcher, name: str) -> None:
        found = local.library.generation_of(name)
        if found is None:
            raise SetupError(f"there is no collection {name!r}; make it with `rubrica corpus add`")
        self.name = name
        self.generation = found.name
        self._local = local
        self._where = SearchFilter(collections=(name,))

    def list_documents(self) -> Iterator[CorpusDocument]:
        """Yield all documents, in the order in which they were read."""
        for stored in self._local.shelves.store.list_documents(self.name, StoredState.LIVE):
            language = Language.CHINESE if stored.language.startswith("zh") else Language.ENGLISH
            yield CorpusDocument(stored.source, language)

    def read_text(self, source: Source) -> str:
        """Return the full text of a document."""
        return self._local.shelves.store.text_of(source.snapshot)

    def open_encoder(self) -> Encoder | None:
        """Open the encoder of the collections; None where one of them has no vectors."""
        return self._local.open_encoder()

    async def search(self, query: str, limit: int) -> Sequence[Passage]:
        """Find up to `limit` passages, best first, as the product's own search does."""
        return await self._local.search(query, limit, self._where)


@contextmanager
def open_corpora(settings: Settings, names: Sequence[str]) -> Iterator[list[SourceCorpus]]:
    """Open collections of the home in this process. Where one has no vectors, all are searched by words.

    Raises:
        SetupError: another process has the home's indexes open, or a collection does not exist.
    """
    if not names:
        yield []
        return
    release = lock_home(settings.home)
    home = open_retrieval_home(settings.home)
    encoder = EncoderOnFirstUse(lambda: open_own_encoder(settings)) if _have_vectors(home, names) else None
    with LocalSearcher(home, encoder, release) as local:
        for name in names:
            local.library.refresh(name)
        yield [SourceCorpus(local, name) for name in names]


def _have_vectors(home: RetrievalHome, names: Sequence[str]) -> bool:
    """Say whether all these collections have vectors.

    Without them a search compares what the words found on the spot, which is too slow for thousands of searches.
    """
    found = [home.catalogue.find_generation(name) for name in names]
    return all(generation is not None and generation.dense for generation in found)
