"""The stored copies of cited sources: they are fetched when a search closes, so that every offset can always be checked."""

from collections.abc import Awaitable, Callable, Iterable

from app.domain.errors import NotFound, ToolError
from app.domain.evidence import Finding, Quote, snapshot_hash
from app.runs.storage.run_log import SourceSnapshot

FetchCopy = Callable[[str], Awaitable[str]]
FindMissing = Callable[[list[str]], Awaitable[frozenset[str]]]


async def keep_cited(finding: Finding, missing: FindMissing, fetch: FetchCopy) -> tuple[Finding, list[SourceSnapshot]]:
    """Return the finding without quotes that have no copy, and the copies that are not stored yet.

    `missing` returns which of the given hashes are not stored; `fetch` gets a copy from the index by its hash.
    """
    hashes = sorted({quote.source.snapshot for quote in finding.quotes})
    texts = {name: await _fetch_checked(name, fetch) for name in sorted(await missing(hashes))}
    kept = tuple(quote for quote in finding.quotes if _is_confirmed(quote, texts))
    snapshots = [SourceSnapshot(name, text) for name, text in texts.items() if text is not None]
    return _keep_quotes(finding, kept), snapshots


async def _fetch_checked(name: str, fetch: FetchCopy) -> str | None:
    """Return the copy of this hash; None when the index has none, or another text under the hash."""
    try:
        text = await fetch(name)
    except (NotFound, ToolError):
        return None
    return text if snapshot_hash(text) == name else None


def _is_confirmed(quote: Quote, texts: dict[str, str | None]) -> bool:
    """Say whether a new copy has the quote at its offsets. A copy that was stored before was checked then."""
    if quote.source.snapshot not in texts:
        return True
    text = texts[quote.source.snapshot]
    return text is not None and text[quote.start : quote.end] == quote.text


def _keep_quotes(finding: Finding, kept: tuple[Quote, ...]) -> Finding:
    if len(kept) == len(finding.quotes):
        return finding
    keys = {quote.key for quote in kept}
    conflicts = tuple(c for c in finding.conflicts if keys.issuperset(c.quote_keys))
    relevance = tuple(own for quote, own in zip(finding.quotes, finding.relevance, strict=False) if quote.key in keys)
    return finding.model_copy(update={"quotes": kept, "relevance": relevance, "conflicts": conflicts})


def count_sources(quotes: Iterable[Quote]) -> int:
    """Return how many sources are quoted."""
    return len({quote.source.url for quote in quotes})
