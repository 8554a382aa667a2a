"""The questions of `bench.brief`, each with the excerpts or documents that its answer must quote."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.domain.evidence import Quote
from bench.labelled_sets import load_multihop, take_half
from retrieval.language.tokens import split_units

LABELS = Path(__file__).resolve().parent / "labels" / "brief"
MULTIHOP_QUESTIONS = 100
HALVES = ("build", "judge")
SHARED = 0.5
"""The share of the shorter text's runs of three words that the other must have for a quotation to count as the excerpt."""


@dataclass(frozen=True)
class BriefQuestion:
    """A question; `docs` is the folder to search, or None for the set's own corpus.

    `gold` are the excerpts to quote, `gold_documents` the ids of documents to quote from; with neither, it has no answer.
    """

    text: str
    docs: Path | None = None
    gold: tuple[str, ...] = ()
    gold_documents: frozenset[str] = frozenset()

    @property
    def is_answerable(self) -> bool:
        """Say whether the question has an answer."""
        return bool(self.gold or self.gold_documents)

    def share_quoted(self, quotes: Sequence[Quote]) -> float:
        """Return the share of the gold that these quotations bring."""
        if self.gold_documents:
            cited = {quote.source.url.rpartition("/")[2] for quote in quotes}
            return len(self.gold_documents & cited) / len(self.gold_documents)
        runs = [_runs_of(quote.text) for quote in quotes]
        return sum(_is_quoted(excerpt, runs) for excerpt in self.gold) / len(self.gold)


def load_labelled(name: str, half: str | None) -> list[BriefQuestion]:
    """Read one half of a set of `bench/labels/brief`."""
    return read_questions(LABELS / f"{name}.jsonl", LABELS / "documents", half)


def read_questions(file: Path, folders: Path, half: str | None = None) -> list[BriefQuestion]:
    """Read rows of {"question", "gold": [excerpts], "docs": a folder in `folders`, or null for the default corpus}."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [
        BriefQuestion(row["question"], folders / row["docs"] if row.get("docs") else None, tuple(row.get("gold") or ()))
        for row in rows
        if half is None or row["half"] == half
    ]


def load_multihop_questions(half: str) -> list[BriefQuestion]:
    """Read questions over several paragraphs, each of which is a document."""
    labelled = take_half(load_multihop(), HALVES.index(half))
    chosen = sorted(labelled.queries)[:MULTIHOP_QUESTIONS]
    return [BriefQuestion(labelled.queries[each], gold_documents=frozenset(labelled.labels[each])) for each in chosen]


def _is_quoted(excerpt: str, quotes: Iterable[frozenset[tuple[str, ...]]]) -> bool:
    own = _runs_of(excerpt)
    return any(len(own & quote) >= SHARED * min(len(own), len(quote)) for quote in quotes)


def _runs_of(text: str) -> frozenset[tuple[str, ...]]:
    words = split_units(text.lower())
    return frozenset(tuple(words[at : at + 3]) for at in range(max(1, len(words) - 2)))
