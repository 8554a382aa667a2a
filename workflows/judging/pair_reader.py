"""The learned judge: it reads a claim and its evidence together, in onnxruntime, without torch.

An encoder gives each token a vector; a head lays the two texts beside each other and says whether the evidence states the claim.
`claim_grading` opens it, and says where it is.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from app.domain.errors import SetupError
from workflows.checks.grading import Evidence, PairReading, load_grader
from workflows.judging.pair_encoder import EncodedPair, Floats, PairEncoder, open_session

ENCODER, HEAD, TOKENIZER, JUDGE = "encoder.onnx", "head.onnx", "tokenizer.json", "judge.json"
HASHED = (ENCODER, HEAD, TOKENIZER)
INPUTS = ("claim_states", "evidence_states", "claim", "evidence")
LEAST_CHANCE = 1e-6
CLOSE = 0.7
"""The least share of a claim's words that one sentence has in the same order for the judge to doubt it.

The falsehoods from which it learned are sentences with a change; of what people say in words of their own it knows too little.
"""
_WORD = re.compile(r"\w+")


class PairReader:
    """The learned judge. Threads may share it."""

    def __init__(self, folder: Path) -> None:
        """Open the judge in a folder.

        Raises:
            SetupError: a file is missing, or is not the one that belongs to the others.
        """
        limits, contents = _read_files(folder)
        self._doubted = float(limits["doubted"])
        self._encoder = PairEncoder(contents[ENCODER], contents[TOKENIZER].decode(), load_grader().rarity)
        self._head = open_session(contents[HEAD])

    def read(self, claim: str, evidence: Evidence) -> PairReading | None:
        """Read a claim and its evidence; None where one of them has no word."""
        pair = self._encoder.encode(claim, evidence)
        if pair is None:
            return None
        stated, _, opposed = (float(chance) for chance in self._find_chances(pair))
        odds = _log_odds(stated)
        doubted = odds < self._doubted and measure_copied(claim, evidence.sentences) >= CLOSE
        return PairReading(odds, _log_odds(opposed), doubted)

    def _find_chances(self, pair: EncodedPair) -> Floats:
        """Return the probabilities that the evidence states the claim, leaves it open, and states the opposite."""
        feed = {name: getattr(pair, name)[None] for name in INPUTS}
        scores: Floats = self._head.run(None, feed)[0][0]
        weights: Floats = np.exp(scores - scores.max())
        chances: Floats = weights / weights.sum()
        return chances


def _read_files(folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    try:
        judge = json.loads((folder / JUDGE).read_text(encoding="utf-8"))
        contents = {name: (folder / name).read_bytes() for name in HASHED}
    except OSError as error:
        raise SetupError(f"the learned judge of claims has no file {Path(error.filename or folder).name}") from error
    for name, content in contents.items():
        if hashlib.sha256(content).hexdigest() != judge["sha256"][name]:
            raise SetupError(f"the learned judge's {name} does not belong to its other files")
    return judge["limits"], contents


def _log_odds(chance: float) -> float:
    kept = min(max(chance, LEAST_CHANCE), 1 - LEAST_CHANCE)
    return log(kept / (1 - kept))


def measure_copied(claim: str, sentences: Sequence[str]) -> float:
    """Return the greatest share of the claim's words that one sentence has in the same order."""
    own = _WORD.findall(claim.lower())
    return max((_share_in_order(own, _WORD.findall(sentence.lower())) for sentence in sentences), default=0.0)


def _share_in_order(own: Sequence[str], other: Sequence[str]) -> float:
    blocks = SequenceMatcher(None, own, other, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / max(1, len(own))
