"""A quotation whose source has no copy goes, and what was said of it goes too."""

from app.domain.budget import StopReason
from app.domain.errors import NotFound
from app.domain.evidence import Finding, Quote, Source, snapshot_hash
from workflows.durable.cited_copies import keep_cited

TEXTS = ("The lease ends in May.", "The tide is high.")


async def test_the_relevance_of_what_is_kept_stays_beside_it() -> None:
    sources = [Source(url=f"https://example.org/{n}", title=f"{n}", snapshot=snapshot_hash(text)) for n, text in enumerate(TEXTS)]
    quotes = tuple(Quote(source=source, text=text, start=0, end=len(text)) for source, text in zip(sources, TEXTS, strict=True))
    finding = Finding(subtask_id="s1", quotes=quotes, relevance=(0.9, 0.4), stop=StopReason.SUFFICIENT)

    async def find_missing(hashes: list[str]) -> frozenset[str]:
        return frozenset(hashes)

    async def fetch(name: str) -> str:
        if name == quotes[0].source.snapshot:
            raise NotFound("gone")
        return TEXTS[1]

    kept, copies = await keep_cited(finding, find_missing, fetch)
    assert (kept.quotes, kept.relevance) == (quotes[1:], (0.4,))
    assert [copy.text for copy in copies] == [TEXTS[1]]
