"""The form of generated claims, and how texts are divided into halves."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.domain.query import Language
from app.domain.script import count_ideographs
from retrieval.language.sentences import list_sentences

BUILD, JUDGE = "build", "judge"
CHINESE_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class SourceText:
    """A piece of a document: its title and some sentences in a row. `document` names what must not serve both halves."""

    title: str
    sentences: tuple[str, ...]
    document: str
    language: Language


@dataclass(frozen=True, slots=True)
class ClaimPair:
    """A claim with its evidence. `right`: the evidence states the claim; `kind` says how the claim was made."""

    title: str
    evidence: tuple[str, ...]
    claim: str
    kind: str
    right: bool

    @property
    def language(self) -> Language:
        """The language of the claim."""
        return language_of(self.claim)


def language_of(text: str) -> Language:
    """Return Chinese for a text with a third of ideographs or more."""
    return Language.CHINESE if count_ideographs(text) > CHINESE_SHARE * len(text) else Language.ENGLISH


def half_of(document: str) -> str:
    """Return the half of a document, by a hash of its name."""
    return JUDGE if int(hashlib.sha256(f"claim support {document}".encode()).hexdigest(), 16) % 2 else BUILD


def read_pairs(path: Path) -> Iterator[ClaimPair]:
    """Read rows {"title", "evidence", "claim", "kind", "right"}; the evidence is a text or a list of sentences."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield _read_pair(json.loads(line))


def _read_pair(row: dict[str, Any]) -> ClaimPair:
    told = row["evidence"]
    evidence = list_sentences(told) if isinstance(told, str) else [str(sentence) for sentence in told]
    return ClaimPair(row.get("title", ""), tuple(evidence), row["claim"], row.get("kind", ""), bool(row["right"]))


def write_pairs(pairs: Iterable[ClaimPair], path: Path) -> None:
    """Write the pairs as such rows."""
    with path.open("w", encoding="utf-8") as out:
        for pair in pairs:
            row = {"title": pair.title, "evidence": " ".join(pair.evidence), "claim": pair.claim}
            out.write(json.dumps(row | {"kind": pair.kind, "right": pair.right}, ensure_ascii=False) + "\n")
