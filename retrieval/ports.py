"""What the rest of the product needs from retrieval."""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple, Protocol, runtime_checkable

from app.domain.evidence import Passage, Source
from app.domain.value import Value


class Document(Value):
    """A source with its full text; `source.snapshot` is the hash of `text`.

    `hidden` is what a reader of a web page would not see (comments, invisible elements): to be inspected, never to be shown.
    """

    source: Source
    text: str
    hidden: str = ""


class SearchFilter(Value):
    """Restricts a search. Empty `collections` means the default collection.

    `tenant` is on whose behalf is searched: what belongs to another tenant is as if it were not there, and without one so is all
    that belongs to any. The dates are inclusive; a document without a date is
    outside any range.
    """

    collections: tuple[str, ...] = ()
    language: str | None = None
    tenant: str | None = None
    published_from: date | None = None
    published_to: date | None = None

    def days(self) -> tuple[int | None, int | None]:
        """The dates as day numbers (1 = 1 January of the year 1)."""
        first, last = self.published_from, self.published_to
        return first.toordinal() if first else None, last.toordinal() if last else None


class Searcher(Protocol):
    """Hybrid search over collections.

    Raises:
        ToolError: the index cannot be reached or refuses the query.
    """

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        """Up to `limit` passages, best first. Near-duplicates have collapsed."""
        ...


@runtime_checkable
class Speller(Protocol):
    """A searcher that knows what words its passages hold.

    Raises:
        ToolError: the index cannot be reached.
    """

    async def respell(self, words: Sequence[str], where: SearchFilter) -> dict[str, str]:
        """For those of these words (eight at most) that no passage holds: a word of theirs that it may have been meant to be.

        Empty for a word that is near to none. Words that passages hold are left out.
        """
        ...


class PageReader(Protocol):
    """The full text of something a search returned.

    Raises:
        ToolError: nothing is stored under this address.
    """

    async def read(self, url: str) -> Document:
        """The document at `url`, as it was when it was indexed or fetched."""
        ...


class Found(NamedTuple):
    """What a search outside brought. `note` tells the agent who answered, how old that is, and who did not."""

    passages: tuple[Passage, ...]
    note: str


class OutsideSearcher(Protocol):
    """A search of the web or of papers, by whichever service is configured.

    Raises:
        ToolError: none of them answered; the message says why each did not.
    """

    async def search(self, text: str, limit: int) -> Found:
        """Up to `limit` passages, best first; each is its own snapshot, which is kept to be quoted from."""
        ...


@runtime_checkable
class DatedSearcher(Protocol):
    """A search outside that can ask for results of certain days."""

    def between(self, since: date | None, until: date | None) -> OutsideSearcher:
        """The same search for these days only (inclusive, None: open)."""
        ...


class PageFetcher(Protocol):
    """One page of the open web, fetched safely, in one attempt.

    Retries, limits, cache and counting belong to the entrance (`retrieval.outside`), which wraps a fetcher: it makes none of
    them itself. `source.snapshot` is the hash of the readable text it returns.

    Raises:
        CallFailed: no text; `failure` says whether another attempt may succeed (a refused address is `REFUSED`).
    """

    async def fetch(self, url: str) -> Document:
        """The readable text of the page at `url`. A redirect that was followed shows in `source.url`."""
        ...
