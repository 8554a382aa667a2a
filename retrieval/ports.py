"""The interfaces of retrieval for the rest of the product."""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple, Protocol, runtime_checkable

from pydantic import Field

from app.domain.blocks import KeptBlocks
from app.domain.evidence import Passage, Source
from app.domain.value import Value
from retrieval.language.blocks import cut_blocks


class Document(Value):
    """A source with its full text; `source.snapshot` is the hash of `text`.

    `hidden` is the part of a web page that its reader does not see (comments, invisible elements): inspect it, never show it.
    `note` says what its reader must know of an incomplete reading. `blocks` are what its reader knew of the text's structure.
    """

    source: Source
    text: str
    hidden: str = ""
    note: str = ""
    blocks: KeptBlocks = ()


def cut_passage(document: Document, start: int, end: int, score: float = 0.0) -> Passage:
    """Return a stretch of a document as a passage, with what is known of its structure."""
    blocks = cut_blocks(document.text, document.blocks, start, end)
    return Passage(source=document.source, text=document.text[start:end], start=start, end=end, score=score, blocks=blocks)


class ScreenedPassage(Passage):
    """A passage that the index has screened: `orders` names how it, or its source's data, orders machines about."""

    orders: tuple[str, ...]

    def without_orders(self) -> Passage:
        """Return the plain passage."""
        return Passage(**{name: getattr(self, name) for name in Passage.model_fields})


class SearchFilter(Value):
    """The restrictions of a search. Empty `collections` means the default collection.

    The search is on behalf of `tenant`. It never finds documents of other tenants; None finds only documents of no tenant. The
    dates are inclusive; a document without a date is outside any range.
    """

    collections: tuple[str, ...] = ()
    language: str | None = None
    tenant: str | None = None
    published_from: date | None = None
    published_to: date | None = None

    def days(self) -> tuple[int | None, int | None]:
        """Return both dates as day numbers (1 = 1 January of the year 1)."""
        first, last = self.published_from, self.published_to
        return first.toordinal() if first else None, last.toordinal() if last else None


class Searcher(Protocol):
    """A hybrid search over collections.

    Raises:
        ToolError: the index cannot be reached or refuses the query.
    """

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        """Find up to `limit` passages, best first, without near-duplicates."""
        ...


@runtime_checkable
class WholeReader(Protocol):
    """A searcher that reads whole collections.

    Raises:
        ToolError: the index cannot be reached, or has no such collection.
    """

    async def read_whole(self, where: SearchFilter, most_chars: int) -> list[Document] | None:
        """Return all documents of the filter's collections; None where they are longer than so many characters together."""
        ...


class CollectionDescription(Value):
    """A collection as searchers are told of it. `own`: it belongs to the asker's organisation. `years`: the first and the last.

    `languages` counts documents by `zh` and by `en`, which stands for all others. `titles` are given where they are few.
    """

    name: str
    kind: str
    own: bool
    documents: int
    years: tuple[int, int] | None = None
    languages: dict[str, int] = Field(default_factory=dict)
    titles: tuple[str, ...] = ()


@runtime_checkable
class Describer(Protocol):
    """A searcher that describes collections.

    Raises:
        ToolError: the index cannot be reached, or has no such collection.
    """

    async def describe(self, where: SearchFilter) -> list[CollectionDescription]:
        """Describe those of the filter's collections that its tenant may search."""
        ...


@runtime_checkable
class Speller(Protocol):
    """A searcher that knows the words of its passages.

    Raises:
        ToolError: the index cannot be reached.
    """

    async def respell(self, words: Sequence[str], where: SearchFilter) -> dict[str, str]:
        """Map each of these words (eight at most) that no passage contains to a similar word of the passages.

        A word without a similar one maps to an empty string. Words that passages contain are left out.
        """
        ...


@runtime_checkable
class Comparer(Protocol):
    """A searcher that can compare texts by meaning.

    Raises:
        ToolError: the index cannot be reached.
    """

    async def compare(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return the cosine of the query and each text (1,024 at most), -1 to 1.

        Empty where no encoder is open or its model does not know the language of the query.
        """
        ...


@runtime_checkable
class Rater(Protocol):
    """A searcher that can read texts together with a question.

    Raises:
        ToolError: the index cannot be reached.
        ToolUnavailable: the model for it is still being loaded; `retry_after` says when to ask again.
    """

    async def rate(self, question: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return for each text (128 at most) how well it answers the question, 0 to 1.

        Empty where no model for it can be had, or it does not know the language of the question.
        """
        ...


class PageReader(Protocol):
    """A reader of the full texts of found documents.

    Raises:
        ToolError: nothing is stored under this address.
    """

    async def read(self, url: str) -> Document:
        """Return the document at `url`, as it was indexed or fetched."""
        ...


class OutsideResult(NamedTuple):
    """The result of a search outside. `note` tells the agent which service answered, the answer's age, and which failed."""

    passages: tuple[Passage, ...]
    note: str


class OutsideSearcher(Protocol):
    """A search of the web or of papers with the configured services.

    Raises:
        ToolError: no service answered; the message has the reason of each.
    """

    async def search(self, text: str, limit: int) -> OutsideResult:
        """Find up to `limit` passages, best first. Each is its own snapshot, which is stored for quotes."""
        ...


@runtime_checkable
class DatedSearcher(Protocol):
    """A search outside that can ask for results of certain days."""

    def between(self, since: date | None, until: date | None) -> OutsideSearcher:
        """Return the same search for these days only (inclusive, None: open)."""
        ...


class PageFetcher(Protocol):
    """A safe fetcher of pages of the open web, in one attempt.

    It has no retries, limits, cache and counting: the entrance (`retrieval.outside`) wraps it with them. `source.snapshot` is the
    hash of the readable text it returns.

    Raises:
        CallFailed: there is no text; `failure` says whether another attempt may succeed (a refused address is `REFUSED`).
    """

    async def fetch(self, url: str) -> Document:
        """Fetch the readable text of the page at `url`. After a redirect, `source.url` is the final address."""
        ...
