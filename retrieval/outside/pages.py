"""The reading of web pages through the entrance, where the index has no document under their address."""

from dataclasses import dataclass
from datetime import timedelta

from app.domain.address import host_of
from app.domain.errors import ToolError, ToolUnavailable
from retrieval.outside.entrance import Entrance
from retrieval.outside.failure import CallFailed, Failure
from retrieval.outside.provider import Provider
from retrieval.outside.trial import FetchedAnswer
from retrieval.ports import Document, PageFetcher, PageReader

# The limits are polite to each host; a page may be large and slow.
PAGE_PROVIDER = Provider("page", per_second=1, burst=3, at_once=4, attempts=3, attempt_limit=timedelta(seconds=30))
PATIENCE = timedelta(seconds=60)


@dataclass(frozen=True)
class WebPageFetcher:
    """A `PageReader` of the open web as a `PageFetcher`, with its errors as `CallFailed`."""

    reader: PageReader

    async def fetch(self, url: str) -> Document:
        """See `PageFetcher.fetch`."""
        try:
            return await self.reader.read(url)
        except ToolUnavailable as error:
            raise CallFailed(Failure.UNAVAILABLE, str(error), error.retry_after) from error
        except ToolError as error:
            raise CallFailed(Failure.REFUSED, str(error)) from error


@dataclass(frozen=True)
class OutsideReader:
    """A `PageReader` of the index first, and then of the web by `fetcher`. `provider` bounds the calls to each host."""

    stored: PageReader
    entrance: Entrance
    fetcher: PageFetcher
    provider: Provider = PAGE_PROVIDER

    async def read(self, url: str) -> Document:
        """See `PageReader.read`.

        Raises:
            ToolError: neither the index nor the web has a text under this address.
        """
        try:
            return await self.stored.read(url)
        except ToolUnavailable:
            raise
        except ToolError:
            host = host_of(url)
            if not host:
                raise
        return await self._fetch(url, host)

    async def _fetch(self, url: str, host: str) -> Document:
        async def attempt() -> FetchedAnswer:
            document = await self.fetcher.fetch(url)
            return FetchedAnswer(
                document.model_dump_json(exclude_defaults=True).encode(), {document.source.snapshot: document.text}
            )

        answer = await self.entrance.call(self.provider, {"url": url}, attempt, PATIENCE, host)
        document = Document.of_any_version(answer.body)
        return document.model_copy(update={"source": document.source.model_copy(update={"fetched": answer.fetched_at.date()})})
