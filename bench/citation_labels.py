"""Reads human labels for claims and evidence, and divides them into folds that share no page and no claim."""

import gzip
import hashlib
import json
import random
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from retrieval.language.sentences import list_sentences
from workflows.checks.grading import Evidence
from workflows.checks.overlap import rank_by_coverage
from workflows.checks.rarity import load_rarity
from workflows.checks.reading import read_sentence

SHIPPED_LABELS = (
    Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "citation_labels" / "claim_snippet_labels.jsonl.gz"
)
EXCERPT_SENTENCES = 2


class LabelledClaim(NamedTuple):
    """A claim with evidence and the label people gave the pair: `full`, `partial`, `none` or `contradict`."""

    source: str
    claim: str
    evidence: Evidence
    label: str
    page: str


def load_labels(path: Path) -> list[LabelledClaim]:
    """Read the rows of a file of labels, plain or gzipped JSON lines. The field `supporting_sentences` is not read."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [_read_row(json.loads(line)) for line in content.splitlines() if line.strip()]


def _read_row(record: dict[str, str]) -> LabelledClaim:
    text = record["snippet"]
    sentences = list_sentences(text) or [text]
    page = hashlib.sha256(text.encode()).hexdigest()
    return LabelledClaim(record["source"], record["claim"], Evidence(record.get("title", ""), sentences), record["label"], page)


def assign_folds(rows: Sequence[LabelledClaim], count: int, seed: int) -> list[int]:
    """Return the fold of each row. Rows that share a claim, a title or a text are in one fold."""
    groups = _group_rows(rows)
    names = sorted(set(groups))
    random.Random(seed).shuffle(names)
    fold = {name: place % count for place, name in enumerate(names)}
    return [fold[group] for group in groups]


def _group_rows(rows: Sequence[LabelledClaim]) -> list[str]:
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        leader.setdefault(name, name)
        while leader[name] != name:
            name = leader[name]
        return name

    for row in rows:
        for shared in (f"title {row.source} {row.evidence.title}", f"text {row.page}"):
            leader[find(_claim_key_of(row))] = find(shared)
    return [find(_claim_key_of(row)) for row in rows]


def _claim_key_of(row: LabelledClaim) -> str:
    return f"claim {row.claim.casefold()}"


def cut_excerpt(row: LabelledClaim) -> LabelledClaim:
    """Return the row with only those sentences that share most words with the claim, as reports quote evidence."""
    sentences = row.evidence.sentences
    order = rank_by_coverage(read_sentence(row.claim), [read_sentence(text) for text in sentences], load_rarity())
    chosen = [sentences[place] for place in sorted(order[:EXCERPT_SENTENCES])]
    return row._replace(evidence=Evidence(row.evidence.title, chosen))


def measure_auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the chance that a positive scores above a negative, ties counting half."""
    ranked = sorted(negative)
    below = sum(bisect_left(ranked, value) + bisect_right(ranked, value) for value in positive)
    return below / 2 / len(positive) / len(ranked)
