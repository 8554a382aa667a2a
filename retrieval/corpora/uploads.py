"""Uploaded documents. Each has its own folder, with the file, its name and address, and its text after the reading.

    <collection>/<document id>/about.json     name and address, written by the receiver
                               original.pdf   the file
                               text           its text, after the reading
                               read.json      the text's hash, or the reason why there is none

A child process reads each file once. To delete a document, delete its folder and build the collection again.
"""

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import ValidationError

from app.domain.errors import InvalidInput, SourceUnreadable
from app.domain.evidence import Source, snapshot_hash
from app.domain.value import Value
from retrieval.corpora.extract import Extract
from retrieval.corpora.ports import Unreadable
from retrieval.corpora.reading import FileReader
from retrieval.language.dates import read_date
from retrieval.ports import Document
from retrieval.store.documents import DocumentState

ABOUT, READ, TEXT, ORIGINAL = "about.json", "read.json", "text", "original"
V = TypeVar("V", bound=Value)
READERS = "2"
"""The version of the readers. A new one makes builds read all files again."""


class About(Value):
    """The known facts of an uploaded document: its file's name for people, the address that citations use, its ending."""

    name: str
    address: str
    suffix: str


class Reading(Value):
    """The result of reading a file: `snapshot` names its text, or `error` says why there is none; `note` says what is missing."""

    readers: str
    snapshot: str = ""
    error: str = ""
    note: str = ""
    author: str = ""
    published: str = ""
    characters: int = 0


class UploadState(NamedTuple):
    """The state of a document: `received`, `parsed`, `indexed` or `failed`; `detail` says why, or what of it is unreadable."""

    id: str
    address: str
    state: str
    detail: str
    snapshot: str
    characters: int


class Uploads:
    """The documents under `root`, in the order of their ids."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise InvalidInput(f"{root.name!r} is not a folder")
        self._root = root
        self._share = 0.0

    def documents(self, skip: int = 0) -> Iterator[Document | Unreadable]:
        """Yield one document for each folder, or the reason why it cannot be read."""
        return islice(self._documents(), skip, None)

    def state(self) -> str:
        """Return "": the state is unknown without looking at every folder."""
        return ""

    def share_read(self) -> float:
        """Return the share that has been read, from 0 to 1."""
        return self._share

    def _documents(self) -> Iterator[Document | Unreadable]:
        folders = _folders(self._root)
        with FileReader() as reader:
            for number, folder in enumerate(folders, start=1):
                self._share = number / len(folders)
                found = _document(folder, reader)
                if found is not None:
                    yield found


def upload_states(root: Path, indexed: Mapping[tuple[str, str], DocumentState], failed: Mapping[str, str]) -> list[UploadState]:
    """Return the state of each document under `root`.

    `indexed` has the store's states by address and snapshot, `failed` the reasons of the documents that a build skipped, by id.
    """
    states = []
    for folder in _folders(root) if root.is_dir() else ():
        about, reading = _loaded(folder / ABOUT, About), _loaded(folder / READ, Reading)
        if about is not None:
            states.append(_state(folder.name, about, reading, indexed, failed))
    return states


def _state(
    name: str,
    about: About,
    reading: Reading | None,
    indexed: Mapping[tuple[str, str], DocumentState],
    failed: Mapping[str, str],
) -> UploadState:
    if reading is None:
        return UploadState(name, about.address, "failed" if name in failed else "received", failed.get(name, ""), "", 0)
    if reading.error:
        return UploadState(name, about.address, "failed", reading.error, "", 0)
    live = indexed.get((about.address, reading.snapshot)) is DocumentState.LIVE
    state = "indexed" if live else "parsed"
    return UploadState(name, about.address, state, reading.note, reading.snapshot, reading.characters)


def _folders(root: Path) -> list[Path]:
    return sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))


def _document(folder: Path, reader: FileReader) -> Document | Unreadable | None:
    """Read the document of a folder; None for a folder that was deleted meanwhile, or is incomplete."""
    about = _loaded(folder / ABOUT, About)
    if about is None:
        return None
    try:
        reading, text = _read_once(folder, about, reader)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Unreadable(folder.name, error.strerror or str(error))
    if reading.error:
        return Unreadable(folder.name, reading.error)
    told = {"url": about.address, "title": about.name, "kind": "file"}
    source = Source(**told, snapshot=reading.snapshot, author=reading.author, published=read_date(reading.published))
    return Document(source=source, text=text)


def _read_once(folder: Path, about: About, reader: FileReader) -> tuple[Reading, str]:
    """Return the stored reading and its text, or read the file now."""
    known = _loaded(folder / READ, Reading)
    if known is not None and known.readers == READERS:
        return known, "" if known.error else (folder / TEXT).read_bytes().decode()
    content = (folder / f"{ORIGINAL}{about.suffix}").read_bytes()
    try:
        found = reader.read(about.suffix, content)
    except SourceUnreadable as error:
        reading = Reading(readers=READERS, error=str(error))
    else:
        reading = _kept(folder, found)
    _write(folder / READ, reading.model_dump_json())
    return reading, "" if reading.error else found.text


def _kept(folder: Path, found: Extract) -> Reading:
    _write(folder / TEXT, found.text)
    return Reading(
        readers=READERS,
        snapshot=snapshot_hash(found.text),
        note=found.note,
        author=found.author[:200],
        published=found.published.isoformat() if found.published else "",
        characters=len(found.text),
    )


def _loaded(path: Path, kind: type[V]) -> V | None:
    try:
        return kind.of_any_version(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValidationError):
        return None


def _write(path: Path, text: str) -> None:
    """Write a file in one step, so that an interrupted reading leaves nothing that looks complete."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_bytes(text.encode())
    os.replace(fresh, path)
