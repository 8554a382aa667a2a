"""The pairs from which the judge learns, with their classes, and the part of them that validates.

A pair is validated on if its title falls there, by a hash: pairs of one document stay together.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from app.domain.errors import InvalidInput
from app.domain.query import Language
from training.recipes.claim_judge.config import DataSection
from training.synthesis.claim_support.learning_pairs import HEADLINE, OPPOSING
from training.synthesis.claim_support.pairs import ClaimPair, read_pairs
from workflows.judging.pair_encoder import EncodedPair

STATED, OPEN, OPPOSED = 0, 1, 2
SPLIT_ROWS = "train/rows.jsonl"
PARTS = 1_000


class PairSplit(NamedTuple):
    """The pairs to learn from, and those to validate on."""

    learned: Sequence[ClaimPair]
    validated: Sequence[ClaimPair]


class Example(NamedTuple):
    """An encoded pair with its class."""

    pair: EncodedPair
    label: int


def list_files(section: DataSection) -> list[Path]:
    """Return the files of the pairs: of a set those of its training part."""
    return [path / SPLIT_ROWS if path.is_dir() else path for path in section.sets]


def load_pairs(section: DataSection) -> PairSplit:
    """Load the pairs that the configuration names; English ones only, each once.

    Raises:
        InvalidInput: a file cannot be read, or there are no pairs.
    """
    read = (pair for path in list_files(section) for pair in _read(path))
    pairs = list(dict.fromkeys(pair for pair in read if pair.language is Language.ENGLISH))
    kept = [pair for pair in pairs if kind_of(pair) not in section.thinned or _share_of(f"thin {pair.claim}") < section.kept]
    validated = [_share_of(f"validate {_name_document(pair)}") < section.validation for pair in kept]
    split = PairSplit(
        [pair for pair, out in zip(kept, validated, strict=True) if not out],
        [pair for pair, out in zip(kept, validated, strict=True) if out],
    )
    if not split.learned or not split.validated:
        raise InvalidInput("there are too few pairs to learn from and to validate on")
    return split


def _read(path: Path) -> Iterator[ClaimPair]:
    """Yield the pairs of a file, whose evidence may be one text or a list of sentences."""
    try:
        yield from read_pairs(path)
    except (OSError, KeyError, ValueError) as error:
        raise InvalidInput(f"{path} holds no pairs: {error}") from error


def kind_of(pair: ClaimPair) -> str:
    """Return the kind of change, whichever side of the pair it was made on."""
    first, _, second = pair.kind.partition("/")
    return second if first == HEADLINE and second else first


def label_of(pair: ClaimPair) -> int:
    """Return the class of a pair."""
    return STATED if pair.right else OPPOSED if kind_of(pair) in OPPOSING else OPEN


def _name_document(pair: ClaimPair) -> str:
    """Return what the pairs of a document share: its title, or for a headline its evidence."""
    return pair.title or pair.evidence[0]


def _share_of(text: str) -> float:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % PARTS / PARTS
