"""Reads a claim and its evidence as vectors, one for each token: what the learned judge compares.

Training and serving use this module, so that both see the same tokens and the same 8-bit states.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workflows.checks.grading import Evidence
from workflows.checks.overlap import measure_coverage
from workflows.checks.rarity import WordRarity
from workflows.checks.reading import read_sentence

LONGEST, LONGEST_CLAIM, LONGEST_TITLE = 96, 48, 10
"""In tokens: claim and evidence together, and the most of them for the claim and for the title of its source."""
SENTENCES, LOOKED_AT = 2, 3
Floats = NDArray[np.float32]
States = NDArray[np.floating[Any]]
Ids = NDArray[np.int64]


class EncodedPair(NamedTuple):
    """The tokens of a claim and of its evidence, and their vectors, one row a token. The marks at both ends are left out."""

    claim: Ids
    evidence: Ids
    claim_states: States
    evidence_states: States


class PairEncoder:
    """An encoder in onnxruntime on one thread, with its tokenizer. Threads may share it."""

    def __init__(self, model: bytes, tokenizer: str, rarity: WordRarity) -> None:
        from tokenizers import Tokenizer

        self._session = open_session(model)
        self._tokenizer = Tokenizer.from_str(tokenizer)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._rarity = rarity
        self._opening, self._end = (self._tokenizer.token_to_id(mark) for mark in ("[CLS]", "[SEP]"))

    def encode(self, claim: str, evidence: Evidence) -> EncodedPair | None:
        """Encode a pair; None where one of them has no word."""
        own = self._list_ids(claim)[: LONGEST_CLAIM - 2]
        title = self._list_ids(f"{evidence.title}: ")[:LONGEST_TITLE] if evidence.title else []
        room = LONGEST - len(own) - len(title) - 4
        said = [*title, *self._choose_sentences(claim, evidence.sentences, room)[:room]]
        if not own or not said:
            return None
        return EncodedPair(np.array(own), np.array(said), self._find_states(own), self._find_states(said))

    def _choose_sentences(self, claim: str, sentences: Sequence[str], room: int) -> list[int]:
        """Return the sentence that has most of the claim's words and the next one that still fits, in their order."""
        order = measure_coverage(read_sentence(claim), [read_sentence(text) for text in sentences], self._rarity).order
        kept: dict[int, list[int]] = {}
        for place in order[:LOOKED_AT]:
            ids = self._list_ids(sentences[place])
            if len(kept) < SENTENCES and (not kept or len(ids) <= room - sum(map(len, kept.values()))):
                kept[place] = ids
        return [token for place in sorted(kept) for token in kept[place]]

    def _list_ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def _find_states(self, ids: Sequence[int]) -> Floats:
        tokens = np.array([[self._opening, *ids, self._end]], np.int64)
        feed = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
        states: Floats = self._session.run(None, feed)[0][0][1:-1]
        return states


def open_session(model: bytes) -> Any:
    """Open an ONNX model on one thread of this process."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
