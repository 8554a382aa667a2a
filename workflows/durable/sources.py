"""The stored copies of cited sources: they are fetched when a search closes, so that every offset can always be checked."""

from collections.abc import Awaitable, Callable, Iterable

from app.domain.errors import NotFound, ToolError
from app.domain.evidence import Finding, Quote, snapshot_hash
from app.runs.storage.run_log import Snapshot

Fetch = Callable[[str], Awaitable[str]]
Missing = Callable[[list[str]], Awaitable[frozenset[str]]]


async def cited(finding: Finding, missing: Missing, fetch: Fetch) -> tuple[Finding, list[Snapshot]]:
    """Return the finding without quotes that have no copy, and the copies that are not stored yet.

    `missing` returns which of the given hashes are not stored; `fetch` gets a copy from the index by its hash.
    """
    hashes = sorted({quote.source.snapshot for quote in finding.quotes})
    texts = {name: await _copy(name, fetch) for name in sorted(await missing(hashes))}
    kept = tuple(quote for quote in finding.quotes if _stands(quote, texts))
    snapshots = [Snapshot(name, text) for name, text in texts.items() if text is not None]
    return _only(finding, kept), snapshots


async def _copy(name: str, fetch: Fetch) -> str | None:
    """Return the copy of this hash; None when the index has none, or another text under the hash."""
    try:
        text = await fetch(name)
    except (NotFound, ToolError):
        return None
    return text if snapshot_hash(text) == name else None


def _stands(quote: Quote, texts: dict[str, str | None]) -> bool:
    """Say whether a new copy has the quote at its offsets. A copy that was stored before was checked then."""
    if quote.source.snapshot not in texts:
        return True
    text = texts[quote.source.snapshot]
    return text is not None and text[quote.start : quote.end] == quote.text


def _only(finding: Finding, kept: tuple[Quote, ...]) -> Finding:
    if len(kept) == len(finding.quotes):
        return finding
    keys = {quote.key for quote in kept}
    conflicts = tuple(c for c in finding.conflicts if keys.issuperset(c.quote_keys))
    return finding.model_copy(update={"quotes": kept, "conflicts": conflicts})


def distinct_sources(quotes: Iterable[Quote]) -> int:
    """Return how many sources are quoted."""
    return len({quote.source.url for quote in quotes})
