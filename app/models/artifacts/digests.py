"""The digest of a folder: SHA-256 over a line for each file, sorted by name, as `sha256sum` writes it.

In a shell: find . -type f -printf '%P\\n' | LC_ALL=C sort | xargs sha256sum | sha256sum
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from io import BufferedReader
from pathlib import Path

from app.domain.errors import InvalidInput

# Names that mean the same to every file system and every shell.
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
DIGEST = re.compile(r"[0-9a-f]{64}")
LINE = re.compile(rf"({DIGEST.pattern})  ({NAME.pattern}(?:/{NAME.pattern})*)")
MOST_FILES, DEEPEST = 10_000, 8
BLOCK = 1 << 20


def list_files(folder: Path) -> Mapping[str, Path]:
    """Return the files of a folder by their relative names, sorted.

    Raises:
        InvalidInput: it has a link, a thing that is no file, an odd name, no file or too many; or it cannot be read.
    """
    try:
        found = dict(_walk(folder, "", 1))
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be read: {error.strerror}") from error
    if not found:
        raise InvalidInput(f"{folder} has no file; name the folder of a trained model")
    return {name: found[name] for name in sorted(found)}


def _walk(folder: Path, before: str, depth: int) -> Iterator[tuple[str, Path]]:
    count = 0
    for entry in sorted(os.scandir(folder), key=lambda each: each.name):
        name = before + entry.name
        if not NAME.fullmatch(entry.name) or depth > DEEPEST:
            raise InvalidInput(f"{name!r} in {folder} is an odd name: only letters, digits and ._- within {DEEPEST} folders")
        if entry.is_symlink() or not (entry.is_dir() or entry.is_file()):
            raise InvalidInput(f"{name} in {folder} is a link or no file; put a copy of the file there")
        inside = _walk(Path(entry.path), f"{name}/", depth + 1) if entry.is_dir() else iter([(name, Path(entry.path))])
        for each in inside:
            count += 1
            if count > MOST_FILES:
                raise InvalidInput(f"{folder} has more than {MOST_FILES:,} files")
            yield each


def open_plain(path: Path) -> BufferedReader:
    """Open a file to read, but no link, also where one took its place since it was listed."""
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise InvalidInput(f"{path} is no plain file any more")
    return os.fdopen(opened, "rb")


def read_blocks(path: Path) -> Iterator[bytes]:
    """Read a file, block by block."""
    with open_plain(path) as stream:
        while block := stream.read(BLOCK):
            yield block


def check_digest(digest: str) -> str:
    """Return a digest.

    Raises:
        InvalidInput: it is none.
    """
    if not DIGEST.fullmatch(digest):
        raise InvalidInput(f"{digest!r} is no SHA-256 digest")
    return digest


def digest_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open_plain(path) as stream:
        return hashlib.file_digest(stream, hashlib.sha256).hexdigest()


def write_list(files: Mapping[str, str]) -> bytes:
    """Return the lines of files with these digests by their names. Their SHA-256 is the folder's."""
    return "".join(f"{files[name]}  {name}\n" for name in sorted(files)).encode()


def read_list(lines: bytes) -> Mapping[str, str]:
    """Return the digests of files by their names.

    Raises:
        InvalidInput: a line is none of `write_list`'s.
    """
    found = [LINE.fullmatch(line) for line in lines.decode(errors="replace").splitlines()]
    if not found or None in found:
        raise InvalidInput("it is no list of files with their digests")
    return {each[2]: each[1] for each in found if each}


def join_digests(files: Mapping[str, str]) -> str:
    """Return the digest of a folder with files of these digests by their names."""
    return hashlib.sha256(write_list(files)).hexdigest()


def digest_files(files: Mapping[str, Path]) -> Mapping[str, str]:
    """Return the digests of files by their names in the folder."""
    return {name: digest_file(path) for name, path in files.items()}


def digest_folder(folder: Path) -> str:
    """Return the digest of a folder.

    Raises:
        InvalidInput: as `list_files`.
    """
    return join_digests(digest_files(list_files(folder)))
