"""Reads human labels for claims and evidence, and divides them into folds that share no page and no claim."""

import gzip
import hashlib
import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from retrieval.encoding.encoder import Encoder
from retrieval.language.sentences import list_sentences
from workflows.checks.grading import Evidence, Grader
from workflows.checks.nearness import TextVectors

SHIPPED_LABELS = (
    Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "citation_labels" / "claim_snippet_labels.jsonl.gz"
)


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


def encode_rows(rows: Iterable[LabelledClaim], grader: Grader, encoder: Encoder, kept_in: Path) -> TextVectors:
    """Return the vectors that these rows need. The file `kept_in` holds those made before, and gets the new ones."""
    wanted = list(dict.fromkeys(text for row in rows for text in grader.list_texts_to_encode(row.claim, row.evidence)))
    known = _load_vectors(kept_in) if kept_in.exists() else {}
    missing = [text for text in wanted if _key_of(text) not in known]
    if missing:
        known |= dict(zip(map(_key_of, missing), encoder.encode_passages(missing), strict=True))
        kept_in.parent.mkdir(parents=True, exist_ok=True)
        np.savez(kept_in, keys=np.array(list(known)), vectors=np.stack(list(known.values())).astype(np.float32))
    return {text: known[_key_of(text)].tolist() for text in wanted}


def _load_vectors(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as stored:
        return dict(zip(stored["keys"].tolist(), stored["vectors"], strict=True))


def _key_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]
