"""Word lists, which stand in TOML files beside the modules that use them."""

import tomllib
from importlib.resources import files


def read_lists(name: str, package: str = "retrieval.language") -> dict[str, tuple[str, ...]]:
    """Read the lists of a package's file by their names. Each is written as text, with blanks between the words."""
    told = tomllib.loads(files(package).joinpath(name).read_text(encoding="utf-8"))
    return {key: tuple(text.split()) for key, text in told.items()}
