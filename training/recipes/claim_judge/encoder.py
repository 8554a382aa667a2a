"""The judge's encoder: the first layers of a BERT checkpoint, with its most frequent tokens, in 8 bits."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from app.domain.errors import InvalidInput
from retrieval.encoding.bert_graph import BertShape
from retrieval.encoding.onnx_conversion import convert_tensors, load_tensors
from training.recipes.claim_judge.config import EncoderSection
from workflows.judging.pair_encoder import LONGEST
from workflows.judging.pair_reader import ENCODER, TOKENIZER

NEEDED = ("model.safetensors", "config.json", TOKENIZER)
MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LATIN = 0x250
POSITIONS = 128
WORDS, PLACES = "embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"


def make_encoder(section: EncoderSection, checkpoint: Path, texts: Iterable[str], target: Path) -> None:
    """Write the encoder and its tokenizer to `target`. Tokens are kept by how often these texts have them.

    Raises:
        InvalidInput: the checkpoint's folder lacks `model.safetensors`, `config.json` or `tokenizer.json`.
    """
    if missing := [name for name in NEEDED if not (checkpoint / name).exists()]:
        raise InvalidInput(f"{checkpoint} has no {', '.join(missing)}: name the folder of a BERT checkpoint as [model] base")
    described = json.loads((checkpoint / TOKENIZER).read_text(encoding="utf-8"))
    kept = _choose_tokens(described, texts, section.vocabulary)
    numbers = [described["model"]["vocab"][token] for token in kept]
    (target / TOKENIZER).write_text(json.dumps(_cut_tokenizer(described, kept), ensure_ascii=False), encoding="utf-8")
    config = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
    shape = BertShape(section.layers, config["num_attention_heads"], config["layer_norm_eps"])
    convert_tensors(_cut_tensors(load_tensors(checkpoint), numbers), shape, target / ENCODER)


def _choose_tokens(described: dict[str, Any], texts: Iterable[str], size: int) -> list[str]:
    """Return marks, single letters and the most frequent tokens, in the order of the vocabulary."""
    vocabulary: dict[str, int] = described["model"]["vocab"]
    tokenizer = Tokenizer.from_str(json.dumps(described))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    counts = Counter(token for text in texts for token in tokenizer.encode(text, add_special_tokens=False).tokens)
    needed = {token for token in vocabulary if token in MARKS or _is_letter(token)}
    often = [token for token, _ in counts.most_common() if token not in needed]
    return sorted([*needed, *often[: max(0, size - len(needed))]], key=vocabulary.__getitem__)


def _is_letter(token: str) -> bool:
    bare = token.removeprefix("##")
    return len(bare) == 1 and ord(bare) < LATIN


def _cut_tokenizer(described: dict[str, Any], kept: list[str]) -> dict[str, Any]:
    """Return the tokenizer with these tokens alone, numbered anew."""
    number = {token: place for place, token in enumerate(kept)}
    added = [{**each, "id": number[each["content"]]} for each in described["added_tokens"] if each["content"] in number]
    model = {**described["model"], "vocab": number}
    return {**described, "model": model, "added_tokens": added, "truncation": None, "padding": None, "post_processor": None}


def _cut_tensors(tensors: dict[str, NDArray[Any]], numbers: list[int]) -> dict[str, NDArray[Any]]:
    """Return the checkpoint's tensors with the rows of the kept tokens, and places for the longest pair."""
    bare = {name.removeprefix("bert."): tensor.astype(np.float32) for name, tensor in tensors.items()}
    return bare | {WORDS: bare[WORDS][numbers], PLACES: bare[PLACES][: max(POSITIONS, LONGEST)]}
