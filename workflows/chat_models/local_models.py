"""Models for one's own machine: the catalogue, the search for their files, and their download."""

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from app.domain.errors import InvalidInput, SetupError
from app.domain.value import Value
from retrieval.encoding.weight_files import Told, WeightFile, download, hold_cache, is_verified

SUFFIX = ".gguf"
MEGABYTE = 10**6


class LocalModel(Value):
    """One entry of the catalogue: what running it takes with its `context`, and with each token more.

    `minutes` is the range of a report at quick effort on two quiet cores.
    """

    title: str
    licence: str
    hub: str
    file: WeightFile
    context: int
    memory_mb: int
    token_bytes: int
    minutes: tuple[int, int]

    @property
    def url(self) -> str:
        """The address of its file."""
        return f"{self.hub}/{self.file.path}"


def read_model_catalogue() -> dict[str, LocalModel]:
    """Read all models that the product knows, by name."""
    entries = tomllib.loads(files("workflows.chat_models").joinpath("local_models.toml").read_text(encoding="utf-8"))
    return {name: LocalModel.model_validate(entry) for name, entry in entries.items()}


def name_model(name: str) -> LocalModel:
    """Return the entry of this name.

    Raises:
        InvalidInput: there is none; the message lists those there are.
    """
    catalogue = read_model_catalogue()
    if name not in catalogue:
        raise InvalidInput(f"there is no model {name!r}; there are {', '.join(catalogue)}, and any path to a {SUFFIX} file")
    return catalogue[name]


def find_present(model: LocalModel, folders: Sequence[Path]) -> Path | None:
    """Return the first file of the model's name and size in these folders, with whatever in it; None where there is none."""
    paths = (folder / model.file.name for folder in folders)
    return next((path for path in paths if path.is_file() and path.stat().st_size == model.file.bytes), None)


def find_verified(model: LocalModel, folders: Sequence[Path]) -> Path | None:
    """Return the first file in these folders that has the model's hash; None where there is none."""
    paths = (folder / model.file.name for folder in folders)
    return next((path for path in paths if is_verified(model.file, path)), None)


def fetch_model(model: LocalModel, models_dir: Path | None, cache: Path, told: Told = lambda size: None) -> Path:
    """Find the model's file in `models_dir` or `cache`, or download it into `cache`, and verify it.

    Raises:
        SetupError: it cannot be had; the message says which file to put where.
    """
    folders = [folder for folder in (models_dir, cache) if folder is not None]
    if found := find_verified(model, folders):
        return found
    with hold_cache(cache, model.file.name):
        if found := find_verified(model, folders):
            return found
        try:
            download(model.url, model.file, cache / model.file.name, told)
        except (OSError, SetupError) as error:
            raise SetupError(f"{model.title} was not fetched: {error}\n{_say_where(model, folders[0])}") from error
    return cache / model.file.name


def require_model(name: str, models_dir: Path | None, cache: Path) -> Path:
    """Find and verify the file of a model of the catalogue.

    Raises:
        InvalidInput: the catalogue does not list it.
        SetupError: its file is not here; the message says how to get it.
    """
    model = name_model(name)
    folders = [folder for folder in (models_dir, cache) if folder is not None]
    if found := find_verified(model, folders):
        return found
    fetching = f"`rubrica models fetch {name}` downloads it ({model.file.bytes // MEGABYTE:,} MB)"
    raise SetupError(f"{model.title} is not here: {fetching}.\n{_say_where(model, folders[0])}")


def _say_where(model: LocalModel, folder: Path) -> str:
    return f"Without a network, put {model.file.name} (SHA-256 {model.file.sha256[0]}), from {model.url}, into {folder}"
