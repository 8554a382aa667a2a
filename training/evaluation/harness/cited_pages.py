"""The texts of cited pages as a run keeps them: a judge reads them whole, so that a very long page is kept in part."""

from collections.abc import Iterable, Sequence

from app.domain.evidence import Quote
from app.domain.report import Report
from app.reports.rendering.numbering import number_citations

MOST_PAGE_CHARS = 60_000
AROUND = 1_000
GAP = "\n\n[...]\n\n"


def group_cited_quotes(report: Report) -> dict[str, list[Quote]]:
    """Return the quotes that a report cites by the addresses of their pages, in the order of the addresses."""
    cited: dict[str, list[Quote]] = {}
    for citation in number_citations(report).citations:
        cited.setdefault(citation.quote.source.url, []).append(citation.quote)
    return dict(sorted(cited.items()))


def cut_page(text: str, quotes: Iterable[Quote] = ()) -> str:
    """Return a page's beginning and, where quotes stand beyond the kept length, what stands around all quotes of the page."""
    found = list(quotes)
    if all(quote.end <= MOST_PAGE_CHARS for quote in found):
        return text[:MOST_PAGE_CHARS]
    windows = _merge_windows([(max(0, quote.start - AROUND), quote.end + AROUND) for quote in found])
    head = max(0, MOST_PAGE_CHARS - sum(end - start + len(GAP) for start, end in windows))
    parts = [text[:head], *(text[max(start, head) : end] for start, end in windows if end > head)]
    return GAP.join(parts)[:MOST_PAGE_CHARS]


def _merge_windows(windows: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(windows):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged
