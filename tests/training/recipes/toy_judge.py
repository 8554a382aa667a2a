"""A run of the claim judge at toy size: invented pairs, and a checkpoint of one layer with random weights."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tests.training.recipes.toy_runs import render_toml
from training.synthesis.claim_support.generate import read_source
from training.synthesis.claim_support.learning_pairs import make_learning_pairs
from training.synthesis.claim_support.pairs import write_pairs

WORDS = ("the", "dam", "was", "opened", "in", "by", "because", "of", "floods", "river", "exports", "from", "tons", "first")
TEXT = (
    "In 1890, John Smith was the first governor of the province, and he may have written most of its laws in Boston. "
    "The second dam (built of stone) was opened in March 1904 by Mary Jones because of floods along the river. "
    "Exports increased from 2,300 tons to 45 percent more, which surprised all of the merchants in the town. "
    "Some of the mills were not closed before the war ended. "
)
TEXTS = [piece for n in range(60) for piece in read_source(f"Place {n}", TEXT.replace("Boston", f"Boston{n}"), str(n))]
SECTIONS: Mapping[str, Mapping[str, Any]] = {
    "model": {"base": "tiny"},
    "data": {"sets": ["pairs.jsonl"], "validation": 0.3},
    "encoder": {"layers": 1, "vocabulary": 400},
    "head": {"size": 8, "width": 8},
    "optimizer": {"learning_rate": 0.001, "epochs": 1, "batch_size": 8},
}


def write_judge_toy(folder: Path, **sections: Mapping[str, Any]) -> Path:
    """Write pairs, checkpoint and configuration, with some values of its sections changed; return the configuration."""
    write_pairs(make_learning_pairs(TEXTS, each=6, seed=0), folder / "pairs.jsonl")
    write_tiny_checkpoint(folder / "tiny")
    path = folder / "config.toml"
    path.write_text(render_toml(dict(SECTIONS) | {name: {**SECTIONS.get(name, {}), **said} for name, said in sections.items()}))
    return path


def write_tiny_checkpoint(folder: Path) -> None:
    """Write a BERT of one layer with random weights, and a tokenizer with a few words and all letters."""
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    folder.mkdir(exist_ok=True)
    letters = [chr(c) for c in range(33, 127) if not chr(c).isupper()]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{c}" for c in letters), *WORDS]
    numbers = {token: place for place, token in enumerate(dict.fromkeys(vocabulary))}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"num_attention_heads": 2, "layer_norm_eps": 1e-12}))
    draw, size, inner = np.random.default_rng(0), 16, 32
    shapes = {"embeddings.word_embeddings": (len(numbers), size), "embeddings.position_embeddings": (128, size)}
    shapes |= {"embeddings.token_type_embeddings": (2, size)}
    layer = "encoder.layer.0"
    linear = {f"{layer}.attention.self.{part}": (size, size) for part in ("query", "key", "value")}
    linear |= {f"{layer}.attention.output.dense": (size, size)}
    linear |= {f"{layer}.intermediate.dense": (inner, size), f"{layer}.output.dense": (size, inner)}
    tensors = {f"{name}.weight": draw.normal(scale=0.2, size=shape) for name, shape in {**shapes, **linear}.items()}
    tensors |= {f"{name}.bias": np.zeros(shape[0]) for name, shape in linear.items()}
    for norm in ("embeddings.LayerNorm", f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"):
        tensors |= {f"{norm}.weight": np.ones(size), f"{norm}.bias": np.zeros(size)}
    save_file({name: tensor.astype(np.float32) for name, tensor in tensors.items()}, folder / "model.safetensors")
