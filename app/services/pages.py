"""Pages of the index for other programs: found by a query, whole."""

from typing import Any

import orjson

from app.domain.errors import InvalidInput, Unavailable
from app.domain.value import Value

MAX_PAGE_CHARS = 60_000
HITS_PER_PAGE = 4
LIMIT_S = 60.0


class Page(Value):
    """A page's address and text, in the form gpt-researcher's custom retriever expects."""

    url: str
    raw_content: str


class Pages:
    """The retrieval service at `address` (`unix:/path` or `http://host:port`); None: there is none here."""

    def __init__(self, address: str | None) -> None:
        self._address = address

    async def find(self, query: str, limit: int, collections: tuple[str, ...] = ()) -> list[Page]:
        """Up to `limit` pages, the best first.

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
        import aiohttp  # loaded with the first request: most APIs are never asked for pages

        if self._address is None:
            raise Unavailable("no index is configured here: set RUBRICA_RETRIEVAL_URL, or use `rubrica up`")
        socket = self._address.removeprefix("unix://").removeprefix("unix:") if self._address.startswith("unix:") else None
        base = "http://index" if socket else self._address
        try:
            async with (
                aiohttp.ClientSession(connector=aiohttp.UnixConnector(socket) if socket else None) as session,
                session.post(base + path, data=orjson.dumps(body), timeout=aiohttp.ClientTimeout(total=LIMIT_S)) as response,
            ):
                content, status = await response.read(), response.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Unavailable(f"the index does not answer ({type(error).__name__})") from error
        told: dict[str, Any] = orjson.loads(content)
        if status >= 400:
            raise (InvalidInput if status < 500 else Unavailable)(str(told.get("error")))
        return told
