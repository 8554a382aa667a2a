"""The index as one tenant sees it. Whoever acts for a tenant binds it here once; no query of an agent can name another."""

from collections.abc import Sequence
from typing import Protocol

from app.domain.evidence import Passage
from retrieval.ports import Document, SearchFilter


class TenantIndex(Protocol):
    """What is asked of the index on behalf of a tenant; see `retrieval.service.client.IndexClient`."""

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        """See `Searcher.search`."""
        ...

    async def respell(self, words: Sequence[str], where: SearchFilter) -> dict[str, str]:
        """See `Speller.respell`."""
        ...

    async def read(self, url: str, tenant: str | None = None) -> Document:
        """See `PageReader.read`."""
        ...

    async def snapshot(self, name: str, tenant: str | None = None) -> str:
        """A stored text by its hash; `NotFound` when there is none, or only another tenant has it."""
        ...


class OnBehalf:
    """`Searcher`, `PageReader` and snapshots of what is this tenant's or nobody's; None: only of what is nobody's."""

    def __init__(self, index: TenantIndex, tenant: str | None) -> None:
        self._index = index
        self._tenant = tenant

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        """See `Searcher.search`. A tenant in `where` does not count."""
        return await self._index.search(query, limit, where.model_copy(update={"tenant": self._tenant}))

    async def respell(self, words: Sequence[str], where: SearchFilter) -> dict[str, str]:
        """See `Speller.respell`, for what this tenant may search."""
        return await self._index.respell(words, where.model_copy(update={"tenant": self._tenant}))

    async def read(self, url: str) -> Document:
        """See `PageReader.read`."""
        return await self._index.read(url, self._tenant)

    async def snapshot(self, name: str) -> str:
        """A stored text by its hash, or `NotFound`."""
        return await self._index.snapshot(name, self._tenant)
