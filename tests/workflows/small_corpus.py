"""A handful of documents with a word-overlap search, for tests of agents: a real searcher and reader, only small."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from datetime import date

from app.domain.errors import ToolError
from app.domain.evidence import Passage, Source, snapshot_hash
from retrieval.ports import Document, SearchFilter

TEXTS: Mapping[str, tuple[str, int, str]] = {
    "https://example.org/1824": (
        "Annual Message 1824",
        1824,
        "The tariff of 1824 was meant to protect domestic manufactures. Its friends said that foreign goods ruined the "
        "workshops of the north. The revenue of the year exceeded eleven millions of dollars.\n\n"
        "Southern members answered that the duties fell upon the planter alone.",
    ),
    "https://example.org/1887": (
        "Annual Message 1887",
        1887,
        "Our present tariff laws ought to be at once revised and amended. The surplus in the treasury grew to one hundred "
        "and forty millions of dollars. It is a condition which confronts us, not a theory.\n\n"
        "These laws raise the price to consumers of all articles imported.",
    ),
    "https://example.org/1890": (
        "Annual Message 1890",
        1890,
        "The new tariff law protects the wages of labor. The prices of necessaries were not increased by it. Misrepresentation "
        "of its effects was general before the election.",
    ),
    "https://example.org/zh": (
        "关税史",
        1930,
        "一九三〇年的关税法把平均税率提高到百分之五十以上。许多国家随后采取了报复措施。世界贸易因此大幅萎缩。",
    ),
}
WORD = re.compile(r"[a-z0-9]{3,}|[\u3400-\u9fff]")


class SmallCorpus:
    """A searcher and reader of `TEXTS`, which keeps the queries it was asked, but for those of some years only."""

    def __init__(self, delay: Mapping[str, float] | None = None) -> None:
        self._documents = {url: _make_document(url, *text) for url, text in TEXTS.items()}
        self._delay = delay or {}
        self.queries: list[str] = []

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        if where.published_from is None and where.published_to is None:
            self.queries.append(query)
        await asyncio.sleep(self._delay.get(query, 0))
        wanted = set(WORD.findall(query.lower()))
        passages = [p for document in self._documents.values() if _is_dated_in(document, where) for p in _cut_passages(document)]
        scored = [(len(wanted & set(WORD.findall(p.text.lower()))), p) for p in passages]
        best = sorted((s for s in scored if s[0]), key=lambda s: (-s[0], s[1].source.url, s[1].start))
        return [p for _, p in best[:limit]]

    async def read(self, url: str) -> Document:
        if url not in self._documents:
            raise ToolError(f"nothing is stored under {url}")
        return self._documents[url]

    def text_of(self, snapshot: str) -> str:
        """Return the stored copy of this name."""
        return next(d.text for d in self._documents.values() if d.source.snapshot == snapshot)


def _is_dated_in(document: Document, where: SearchFilter) -> bool:
    published = document.source.published or date.min
    return (where.published_from or date.min) <= published <= (where.published_to or date.max)


def _make_document(url: str, title: str, year: int, text: str) -> Document:
    source = Source(url=url, title=title, snapshot=snapshot_hash(text), published=date(year, 12, 1))
    return Document(source=source, text=text)


def _cut_passages(document: Document) -> list[Passage]:
    found = []
    for block in re.finditer(r"[^\n]+", document.text):
        found.append(Passage(source=document.source, text=block.group(), start=block.start(), end=block.end()))
    return found
