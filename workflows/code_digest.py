"""A digest of the code of packages, including their prompts and SQL."""

import hashlib
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

KINDS = (".py", ".sql", ".md", ".toml")
DIGITS = 16


def digest_code(packages: Sequence[str]) -> str:
    """Return the digest as 16 hex digits; another digest is another version."""
    digest = hashlib.sha256()
    for path in _list_sources(packages):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:DIGITS]


def _list_sources(packages: Sequence[str]) -> Iterable[Path]:
    for package in packages:
        folder = Path(str(files(package)))
        yield from sorted(path for path in folder.rglob("*") if path.suffix in KINDS and path.is_file())
