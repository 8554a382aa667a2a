"""Opening a model folder with `model.onnx` and `tokenizer.json` for texts that run one at a time, each on one core."""

from pathlib import Path
from typing import Any


def open_session(folder: Path) -> Any:
    """Open the model in onnxruntime. Threads may share it."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # it would keep the memory of the longest text for ever
    return onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])


def open_tokenizer(folder: Path) -> Any:
    """Open the tokenizer, which pads nothing."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    return tokenizer
