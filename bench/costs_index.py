"""An index of the default corpus in this process, which counts what it is asked for; stand-ins replace its weights."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.domain.evidence import Passage
from retrieval.building.screening import screen_documents
from retrieval.ports import CollectionDescription, Document, SearchFilter
from retrieval.search.in_process import SOTU, LocalSearcher, open_local

DIMENSIONS = 64


class WordEncoder:
    """An encoder whose vectors say which words a text has."""

    name = "hashed words"
    size = DIMENSIONS

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector for each text, in order."""
        return np.array([self._encode(text) for text in texts], np.float32)

    def encode_query(self, text: str) -> list[float]:
        """Return the unit vector of a query."""
        return [float(value) for value in self._encode(text)]

    def can_read(self, text: str) -> bool:
        """Say that it reads every language."""
        return True

    def _encode(self, text: str) -> NDArray[np.float32]:
        vector = np.full(DIMENSIONS, 1e-3, np.float32)
        for word in text.lower().split():
            vector[hashlib.blake2s(word.encode(), digest_size=1).digest()[0] % DIMENSIONS] += 1
        return vector / np.linalg.norm(vector)


class WordRater:
    """A rater by the share of the question's words that a text has."""

    def rate(self, question: str, texts: Sequence[str]) -> list[float]:
        """See `AnswerRater.rate`."""
        wanted = set(question.lower().split())
        return [len(wanted & set(text.lower().split())) / len(wanted) for text in texts]


class CountedIndex:
    """The index as a worker sees it; `asked` counts searches, and texts that were encoded and rated."""

    def __init__(self, searcher: LocalSearcher) -> None:
        self._searcher = searcher
        self.asked: Counter[str] = Counter()

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        """See `Searcher.search`."""
        self.asked["searches"] += 1
        return await self._searcher.search(query, limit, where)

    async def respell(self, words: Sequence[str], where: SearchFilter) -> dict[str, str]:
        """See `Speller.respell`."""
        return await self._searcher.respell(words, where)

    async def compare(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """See `Comparer.compare`."""
        self.asked["encodings"] += len(texts)
        return await self._searcher.compare(query, texts)

    async def rate(self, question: str, texts: Sequence[str]) -> tuple[float, ...]:
        """See `Rater.rate`."""
        self.asked["ratings"] += len(texts)
        return await self._searcher.rate(question, texts)

    async def read(self, url: str, tenant: str | None = None, collections: Sequence[str] = ()) -> Document:
        """See `PageReader.read`."""
        return self._searcher.library.read(url, collections, tenant)

    async def describe(self, where: SearchFilter) -> list[CollectionDescription]:
        """See `Describer.describe`: one collection, as the agents of a run are told of it."""
        return [
            CollectionDescription(name="sotu", kind="sotu", own=False, documents=249, years=(1790, 2026), languages={"en": 249})
        ]

    async def get_snapshot(self, name: str, tenant: str | None = None) -> str:
        """See `IndexClient.get_snapshot`."""
        return self._searcher.library.get_snapshot(name, tenant)


@contextmanager
def open_counted_index(home: Path) -> Iterator[CountedIndex]:
    """Build, screen and open an index of the default corpus."""
    with open_local(home, encoder=WordEncoder, rater=WordRater()) as searcher:
        screen_documents(searcher.shelves, SOTU.name)  # as a builder does in its own process
        yield CountedIndex(searcher)
