"""The stored copies of cited sources: they are fetched before a stage closes, so that every offset can always be checked."""

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import NamedTuple

from app.domain.citations import MARKER, REMOVED
from app.domain.errors import NotFound, ToolError
from app.domain.evidence import Finding, Passage, Quote, snapshot_hash
from app.domain.report import Report
from app.runs.storage.run_log import SourceSnapshot

FetchCopy = Callable[[str], Awaitable[str]]
FindMissing = Callable[[list[str]], Awaitable[frozenset[str]]]


class KeptReport(NamedTuple):
    """A report, the copies that are not stored yet, and all its quotes from sources that no finding has."""

    report: Report
    snapshots: list[SourceSnapshot]
    cites: tuple[Quote, ...]


async def keep_cited(finding: Finding, missing: FindMissing, fetch: FetchCopy) -> tuple[Finding, list[SourceSnapshot]]:
    """Return the finding without quotes that have no copy, and the copies that are not stored yet.

    `missing` returns which of the given hashes are not stored; `fetch` gets a copy from the index by its hash.
    """
    kept, snapshots = await _confirm_quotes(finding.quotes, missing, fetch)
    return _keep_quotes(finding, kept), snapshots


async def keep_cited_by_report(report: Report, findings: Iterable[Finding], missing: FindMissing, fetch: FetchCopy) -> KeptReport:
    """Return the report without the citations of quotes that have no copy. The sources of findings were kept before.

    `missing` and `fetch` are as for `keep_cited`.
    """
    before = {quote.source.snapshot for finding in findings for quote in finding.quotes}
    own = [quote for quote in report.quotes if quote.source.snapshot not in before]
    kept, snapshots = await _confirm_quotes(own, missing, fetch)
    lost = {quote.key for quote in own} - {quote.key for quote in kept}
    return KeptReport(_remove_quotes(report, lost), snapshots, kept)


async def _confirm_quotes(
    quotes: Sequence[Quote], missing: FindMissing, fetch: FetchCopy
) -> tuple[tuple[Quote, ...], list[SourceSnapshot]]:
    """Return the quotes that have a copy, and the copies that are not stored yet."""
    hashes = sorted({quote.source.snapshot for quote in quotes})
    texts = {name: await _fetch_checked(name, fetch) for name in sorted(await missing(hashes))}
    kept = tuple(quote for quote in quotes if _is_confirmed(quote, texts))
    return kept, [SourceSnapshot(name, text) for name, text in texts.items() if text is not None]


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


def _remove_quotes(report: Report, lost: set[str]) -> Report:
    """Return the report without these quotes. Where one was cited `REMOVED` stands, so that the reader is told of it."""
    if not lost:
        return report
    removed = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal removed
        gone = match.group(1).strip() in lost
        removed += gone
        return REMOVED if gone else match.group()

    sections = tuple(s.model_copy(update={"body": MARKER.sub(replace, s.body)}) for s in report.sections)
    told = {
        "sections": sections,
        "quotes": tuple(quote for quote in report.quotes if quote.key not in lost),
        "conflicts": tuple(conflict for conflict in report.conflicts if lost.isdisjoint(conflict.quote_keys)),
        "removed_citations": report.removed_citations + removed,
    }
    return report.model_copy(update=told)


def count_sources(evidence: Iterable[Quote | Passage]) -> int:
    """Return how many sources the evidence is of."""
    return len({each.source.url for each in evidence})
