"""The client of the index owner: a `Searcher`, a `PageReader` and the management of collections over its socket."""

import os
import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from time import monotonic
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import aiohttp
import orjson

from app.domain.errors import Conflict, InvalidInput, NotFound, RubricaError, ToolError, ToolUnavailable
from app.domain.evidence import Passage
from app.outgoing.retry_after import read_retry_after
from retrieval.ports import CollectionDescription, Document, ScreenedPassage, SearchFilter
from retrieval.service.still_building import StillBuilding
from retrieval.store.catalogue import CorpusKind, check_name

_TIMEOUT = aiohttp.ClientTimeout(total=90)
_UNTIL_DONE = aiohttp.ClientTimeout(total=None, sock_read=90)
_ERRORS: dict[int, type[RubricaError]] = {
    400: InvalidInput,
    404: NotFound,
    409: Conflict,
    425: StillBuilding,
    503: ToolUnavailable,
}
WAIT_FOR_BUILD = timedelta(minutes=10)
"""The time that a search waits for the first index of a collection whose builder is at work: what a tool answers is stored."""

HASH = re.compile(r"[0-9a-f]{64}")


class IndexClient:
    """A client of the owner at `address`: a socket's path, `unix:<path>` or `http://host:port`.

    An owner that is away, or that waits for its own server, raises `ToolUnavailable`; a caller may ask again. The client belongs
    to the event loop of its first call. Close it, or use it in `async with`.

    A name that no collection can have raises `InvalidInput`.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        """See `Searcher.search`; every failure is a `ToolError`."""
        body = {"query": query, "limit": limit, **where.model_dump()}
        answer = await self._call_when_built("/search", body)
        return [_read_passage(found) for found in answer["passages"]]

    async def respell(self, words: Sequence[str], where: SearchFilter) -> dict[str, str]:
        """See `Speller.respell`; every failure is a `ToolError`."""
        answer = await self._call_when_built("/respell", {"words": list(words), **where.model_dump()})
        return dict(answer["words"])

    async def compare(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """See `Comparer.compare`; every failure is a `ToolError`."""
        answer = await self._call_as_tool("/compare", {"query": query, "texts": list(texts)})
        return tuple(answer["cosines"])

    async def rate(self, question: str, texts: Sequence[str]) -> tuple[float, ...]:
        """See `Rater.rate`; every failure is a `ToolError`."""
        answer = await self._call_as_tool("/rate", {"question": question, "texts": list(texts)})
        return tuple(answer["ratings"])

    async def read(self, url: str, tenant: str | None = None, collections: Sequence[str] = ()) -> Document:
        """See `PageReader.read`; every failure is a `ToolError`. Documents of other tenants do not exist for it.

        Where several collections have a document at `url`, those in `collections` come first.
        """
        body = {"url": url, "tenant": tenant, "collections": list(collections)}
        return Document.of_any_version(await self._call_as_tool("/read", body))

    async def read_whole(self, where: SearchFilter, most_chars: int) -> list[Document] | None:
        """Return all documents of the filter's collections; None where they are longer than so many characters together.

        Every failure is a `ToolError`.
        """
        answer = await self._call_when_built("/whole", {"most_chars": most_chars, **where.model_dump(mode="json")})
        found = answer["documents"]
        return None if found is None else [Document.of_any_version(document) for document in found]

    async def describe(self, where: SearchFilter) -> list[CollectionDescription]:
        """See `Describer.describe`; every failure is a `ToolError`."""
        answer = await self._call_when_built("/describe", where.model_dump(mode="json"))
        return [CollectionDescription.of_any_version(description) for description in answer["collections"]]

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
        """Return the probabilities of entailment and contradiction of each pair; every failure is a `ToolError`."""
        answer = await self._call_as_tool("/entail", {"pairs": [list(pair) for pair in pairs]})
        return [(entailed, contradicted) for entailed, contradicted in answer["pairs"]]

    async def read_health(self) -> dict[str, Any]:
        """Ask for the owner's health. Raises `ToolError` when it does not answer."""
        return await self._call("GET", "/health")

    async def get_snapshot(self, name: str, tenant: str | None = None) -> str:
        """Return a stored text by its hash. Raises `NotFound` when there is none, or only another tenant has it."""
        if not HASH.fullmatch(name):
            raise NotFound(f"{name[:100]!r} is not the hash of a text")
        asked = f"/snapshots/{name}" + (f"?tenant={quote(tenant, safe='')}" if tenant else "")
        return str((await self._call("GET", asked))["text"])

    async def list_collections(self) -> list[dict[str, Any]]:
        """Return the state of every collection."""
        return list((await self._call("GET", "/collections"))["collections"])

    async def list_documents(self, collection: str) -> list[dict[str, Any]]:
        """Return the state of each document of a collection of uploads. Raises `NotFound` when there is none of this name."""
        return list((await self._call("GET", _path_of(collection, "documents")))["documents"])

    async def read_progress(self, collection: str) -> dict[str, Any]:
        """Return the state of one collection. Raises `NotFound` when there is none of this name."""
        return await self._call("GET", _path_of(collection, "progress"))

    async def build(
        self, collection: str, kind: CorpusKind | str, path: str = "", licence: str = "", tenant: str = ""
    ) -> dict[str, Any]:
        """Start building a collection, and return its state at once. Raises `InvalidInput`, or `Conflict` while it is indexed.

        `licence` is that of documents which state none themselves. Only `tenant` may search it; empty: everybody.
        """
        body = {"kind": str(kind), "path": _absolute_of(path), "licence": licence, "tenant": tenant}
        return await self._call("POST", _path_of(collection, "build"), body)

    async def read_statistics(self, collection: str) -> dict[str, Any]:
        """Return the statistics of a collection. Raises `NotFound` when there is none of this name."""
        return await self._call("GET", _path_of(collection, "stats"))

    async def verify(self, collection: str, told: Callable[[dict[str, Any]], None] = lambda _: None) -> dict[str, Any]:
        """Verify a collection; `told` is called with each interim result. Raises `NotFound`, or `Conflict` while it is built."""
        session, base = self._open_session()
        url = base + _path_of(collection, "verify")
        found: dict[str, Any] = {}
        try:
            async with session.post(url, timeout=_UNTIL_DONE) as response:
                if response.status >= 400:
                    raise _ERRORS.get(response.status, ToolError)(_message_of(await response.read(), response.status))
                async for line in response.content:
                    found = dict(orjson.loads(line))
                    told(found)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ToolError(f"the index owner ended before the verification did ({type(error).__name__})") from error
        if not found.pop("finished", False):
            raise ToolError(f"the verification broke off: {found.get('error', 'the index owner ended')}")
        return found

    async def remove(self, collection: str) -> None:
        """Delete a collection."""
        await self._call("DELETE", _path_of(collection))

    async def _call_when_built(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Call, again and again while the owner, which waits for a while itself, answers that an index is still being built."""
        deadline = monotonic() + WAIT_FOR_BUILD.total_seconds()
        while True:
            try:
                return await self._call_as_tool(path, body)
            except StillBuilding:
                if monotonic() >= deadline:
                    raise

    async def _call_as_tool(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        try:
            return await self._call("POST", path, body)
        except (InvalidInput, NotFound, Conflict) as error:
            raise ToolError(str(error)) from error

    async def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        session, base = self._open_session()
        data = orjson.dumps(body) if body is not None else None
        try:
            async with session.request(method, base + path, data=data, timeout=_TIMEOUT) as response:
                content = await response.read()
                status = response.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ToolUnavailable(f"the index does not answer ({type(error).__name__}): is the index owner running?") from error
        if status >= 400:
            raise _error_of(status, content, read_retry_after(response.headers))
        return dict(orjson.loads(content)) if content else {}

    def _open_session(self) -> tuple[aiohttp.ClientSession, str]:
        remote = self._address.startswith(("http://", "https://"))
        if self._session is None:
            path = self._address.removeprefix("unix://").removeprefix("unix:")
            connector = aiohttp.TCPConnector() if remote else aiohttp.UnixConnector(path=path, limit=32)
            self._session = aiohttp.ClientSession(connector=connector)
        return self._session, self._address.rstrip("/") if remote else "http://index"


def _read_passage(found: dict[str, Any]) -> Passage:
    return (ScreenedPassage if "orders" in found else Passage).of_any_version(found)


def _path_of(collection: str, *what: str) -> str:
    check_name(collection)
    return "/".join(("/collections", collection, *what))


def _absolute_of(path: str) -> str:
    """Make a path absolute, since the owner has its own working folder."""
    return os.path.abspath(path) if path else ""


def _error_of(status: int, content: bytes, wish: timedelta | None) -> RubricaError:
    error = _ERRORS.get(status, ToolError)(_message_of(content, status))
    if isinstance(error, ToolUnavailable):
        error.retry_after = wish
    return error


def _message_of(content: bytes, status: int) -> str:
    try:
        return str(orjson.loads(content)["error"])
    except (ValueError, KeyError, TypeError):
        return f"the index answered with status {status}"
