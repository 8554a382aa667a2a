"""The index as one tenant sees it. A caller binds the tenant once, and no query of an agent can name another tenant."""

from collections.abc import Sequence
from typing import Protocol

from app.domain.evidence import Passage
from retrieval.ports import CollectionDescription, Document, SearchFilter


class SharedIndex(Protocol):
    """The requests to an index on behalf of a tenant; see `retrieval.service.client.IndexClient`."""

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        """See `Searcher.search`."""
        ...

    async def respell(self, words: Sequence[str], where: SearchFilter) -> dict[str, str]:
        """See `Speller.respell`."""
        ...

    async def compare(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """See `Comparer.compare`."""
        ...

    async def rate(self, question: str, texts: Sequence[str]) -> tuple[float, ...]:
        """See `Rater.rate`."""
        ...

    async def read(self, url: str, tenant: str | None = None, collections: Sequence[str] = ()) -> Document:
        """See `PageReader.read`. Where several collections have a document at `url`, those in `collections` come first."""
        ...

    async def read_whole(self, where: SearchFilter, most_chars: int) -> list[Document] | None:
        """See `WholeReader.read_whole`."""
        ...

    async def describe(self, where: SearchFilter) -> list[CollectionDescription]:
        """See `Describer.describe`."""
        ...

    async def get_snapshot(self, name: str, tenant: str | None = None) -> str:
        """Return a stored text by its hash. Raises `NotFound` when there is none, or only another tenant has it."""
        ...


class TenantView:
    """A `Searcher`, `PageReader` and reader of snapshots for documents of one tenant and of none; None: only of none.

    An address that several collections have is read from those in `collections` first.
    """

    def __init__(self, index: SharedIndex, tenant: str | None, collections: Sequence[str] = ()) -> None:
        self._index = index
        self._tenant = tenant
        self._collections = collections

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        """See `Searcher.search`. This tenant replaces any tenant in `where`."""
        return await self._index.search(query, limit, where.model_copy(update={"tenant": self._tenant}))

    async def respell(self, words: Sequence[str], where: SearchFilter) -> dict[str, str]:
        """See `Speller.respell`, for the passages that this tenant may search."""
        return await self._index.respell(words, where.model_copy(update={"tenant": self._tenant}))

    async def compare(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """See `Comparer.compare`; no stored text takes part, so that it is the same for all tenants."""
        return await self._index.compare(query, texts)

    async def rate(self, question: str, texts: Sequence[str]) -> tuple[float, ...]:
        """See `Rater.rate`; no stored text takes part either."""
        return await self._index.rate(question, texts)

    async def read(self, url: str) -> Document:
        """See `PageReader.read`."""
        return await self._index.read(url, self._tenant, self._collections)

    async def read_whole(self, where: SearchFilter, most_chars: int) -> list[Document] | None:
        """See `WholeReader.read_whole`. This tenant replaces any tenant in `where`."""
        return await self._index.read_whole(where.model_copy(update={"tenant": self._tenant}), most_chars)

    async def describe(self, where: SearchFilter) -> list[CollectionDescription]:
        """See `Describer.describe`. This tenant replaces any tenant in `where`."""
        return await self._index.describe(where.model_copy(update={"tenant": self._tenant}))

    async def get_snapshot(self, name: str) -> str:
        """Return a stored text by its hash. Raises `NotFound`."""
        return await self._index.get_snapshot(name, self._tenant)
