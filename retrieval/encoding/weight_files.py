"""Files of weights: each is named by its hash, looked for in folders, and downloaded so that a break costs nothing."""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from app.domain.errors import SetupError
from app.domain.value import Value

SILENCE = timedelta(seconds=30)
BLOCK_BYTES = 2**20
PARTIAL, RANGE_REFUSED = 206, 416
Told = Callable[[int], None]


class WeightFile(Value):
    """One file: its name here, its path in the source, its size, and its allowed hashes."""

    name: str
    path: str
    bytes: int
    sha256: tuple[str, ...]


def is_verified(file: WeightFile, path: Path) -> bool:
    """Say whether the file at `path` has one of the allowed hashes."""
    return path.is_file() and sha256_of(path) in file.sha256


def sha256_of(path: Path) -> str:
    """Return a file's hash in hexadecimal."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def download(url: str, file: WeightFile, target: Path, told: Told = lambda size: None, silence: timedelta = SILENCE) -> None:
    """Download a file to `target` and verify it. What came before a break stays beside it, and the next call goes on from there.

    An answer that breaks off is asked for again as long as each attempt brings something. `told` gets the bytes that are here.

    Raises:
        SetupError: the disk is too full, or what came is not the file.
        OSError: the source does not answer, refuses, or sends nothing more.
    """
    part = target.with_name(f"{target.name}.part")
    require_space(target.parent, file.bytes - _size_of(part))
    while (before := _size_of(part)) < file.bytes:
        _receive(url, file, part, told, silence)
        if _size_of(part) <= before:
            raise OSError(f"the source stopped after {before:,} of {file.bytes:,} bytes")
    if not is_verified(file, part):
        part.unlink()
        raise SetupError(f"what came from {url} is not the file it should be (SHA-256 differs); nothing was kept")
    os.replace(part, target)


def require_space(folder: Path, needed: int) -> None:
    """Refuse to download more than the disk has room for.

    Raises:
        SetupError: the message says how much is needed.
    """
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise SetupError(f"{needed / 1e6:,.0f} MB are needed on the disk of {folder}, {free / 1e6:,.0f} MB are free")


@contextmanager
def hold_cache(cache: Path, name: str) -> Iterator[None]:
    """Hold the weights of this name in a cache while fetching them. Others who want them wait and find them.

    Other weights are fetched meanwhile. A killed process frees the lock.
    """
    try:
        cache.mkdir(parents=True, exist_ok=True)
        lock = os.open(cache / f".lock-{name}", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise SetupError(f"weights cannot be kept in {cache}: {error}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _receive(url: str, file: WeightFile, part: Path, told: Told, silence: timedelta) -> None:
    """Append what one answer brings, up to its end or break. A break is no error where something came before it."""
    before = _size_of(part)
    try:
        request = Request(url, headers={"Range": f"bytes={before}-"} if before else {})
        with urlopen(request, timeout=silence.total_seconds()) as answer:
            goes_on = answer.status == PARTIAL
            with part.open("ab" if goes_on else "wb") as kept:
                while kept.tell() < file.bytes and (block := answer.read(min(BLOCK_BYTES, file.bytes - kept.tell()))):
                    kept.write(block)
                    told(kept.tell())
    except HTTPError as error:
        if error.code == RANGE_REFUSED:  # the source has less than what is here, so this is of another file
            part.unlink(missing_ok=True)
        raise
    except (OSError, HTTPException) as error:
        if _size_of(part) <= before:
            raise OSError(str(error) or type(error).__name__) from error


def _size_of(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
