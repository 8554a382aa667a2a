"""Make an 8-bit ONNX file from a BERT checkpoint, without torch.

`python -m retrieval.encoding.onnx_conversion CHECKPOINT TARGET`, where CHECKPOINT is a folder with `model.safetensors` and
`config.json`. It runs once on a machine, in a separate process, because nothing else needs its libraries. It takes seconds and
at most about 400 MB of memory.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import onnx
from numpy.typing import NDArray
from safetensors.numpy import load_file

from retrieval.encoding.bert_graph import BertShape, Tensors, build_bert_graph
from retrieval.encoding.onnx_quantization import quantize_model


def convert_checkpoint(checkpoint: Path, target: Path) -> None:
    """Write the checkpoint's encoder to `target`, with matrices and word embeddings in 8 bits. Raises `OSError` without files."""
    config = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
    bert = BertShape(config["num_hidden_layers"], config["num_attention_heads"], config["layer_norm_eps"])
    convert_tensors(load_tensors(checkpoint), bert, target)


def load_tensors(checkpoint: Path) -> dict[str, NDArray[Any]]:
    """Load the tensors of a checkpoint's folder. Raises `OSError` without them."""
    tensors: dict[str, NDArray[Any]] = load_file(checkpoint / "model.safetensors")
    return tensors


def convert_tensors(tensors: Tensors, bert: BertShape, target: Path) -> None:
    """Write the encoder with these tensors to `target`, in 8 bits."""
    onnx.save(quantize_model(build_bert_graph(tensors, bert)), target)


def quantize(floats: Path, target: Path) -> None:
    """Write the model `floats` to `target` with 8-bit weights."""
    onnx.save(quantize_model(onnx.load(floats)), target)


def main() -> int:
    """Convert the checkpoint, and return 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("target", type=Path)
    options = parser.parse_args()
    convert_checkpoint(options.checkpoint, options.target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
