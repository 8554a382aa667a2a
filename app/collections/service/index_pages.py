"""Find whole pages of the index for other programs."""

from typing import Any

from app.collections.service.index_owner import IndexService
from app.domain.errors import Conflict, InvalidInput, NotFound
from app.domain.value import Value

MAX_PAGE_CHARS = 60_000
HITS_PER_PAGE = 4


class Page(Value):
    """A page's address and text, in the form that gpt-researcher's custom retriever expects."""

    url: str
    raw_content: str


class Pages:
    """The use case of reading pages that everybody may search; only runs search own documents."""

    def __init__(self, index: IndexService) -> None:
        self._index = index

    async def find(self, query: str, limit: int, collections: tuple[str, ...] = ()) -> list[Page]:
        """Return up to `limit` pages, the best first.

        Raises:
            InvalidInput: the query or a collection cannot be used.
            Unavailable: the index does not answer, or none is configured.
        """
        wanted = {"query": query, "limit": limit * HITS_PER_PAGE, "collections": collections}
        passages = (await self._call("/search", wanted))["passages"]
        urls = list(dict.fromkeys(passage["source"]["url"] for passage in passages))[:limit]
        texts = [(await self._call("/read", {"url": url}))["text"] for url in urls]
        return [Page(url=url, raw_content=text[:MAX_PAGE_CHARS]) for url, text in zip(urls, texts, strict=True)]

    async def _call(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        try:
            return await self._index.call("POST", path, body)
        except (NotFound, Conflict) as error:
            raise InvalidInput(str(error)) from error
