"""Uploaded documents. Each has its own folder, with the file, its name and address, and its text after the reading.

    <collection>/<document id>/about.json     name and address, written by the receiver
                               original.pdf   the file
                               text           its text, after the reading
                               blocks.json    what each stretch of the text is
                               read.json      the text's hash, or the reason why there is none

A child process reads each file once. To delete a document, delete its folder and build the collection again.
"""

import json
import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Annotated, NamedTuple, TypeVar

from pydantic import AfterValidator, ValidationError

from app.domain.blocks import Block, read_blocks
from app.domain.errors import InvalidInput, SourceUnreadable
from app.domain.evidence import Source, snapshot_hash
from app.domain.options import to_one_line
from app.domain.value import Value
from retrieval.corpora.extract import Extract
from retrieval.corpora.file_reader import FileReader
from retrieval.corpora.ports import UnreadableItem
from retrieval.language.dates import read_date
from retrieval.ports import Document
from retrieval.store.documents import StoredState

ABOUT, READ, TEXT, BLOCKS, ORIGINAL = "about.json", "read.json", "text", "blocks.json", "original"
V = TypeVar("V", bound=Value)
Told = Annotated[str, AfterValidator(to_one_line)]
"""Words that readers take from the file: a NUL in them is text that PostgreSQL refuses."""
READERS_VERSION = "10"
"""The version of the readers. A new one makes builds read all files again."""


class UploadAbout(Value):
    """The known facts of an uploaded document: its file's name for people, the address that citations use, its ending."""

    name: str
    address: str
    suffix: str


class UploadReading(Value):
    """The result of reading a file: `snapshot` names its text, or `error` says why there is none; `note` says what is missing."""

    readers: str
    snapshot: str = ""
    error: Told = ""
    note: Told = ""
    author: Told = ""
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


class UploadCorpus:
    """The documents under `root`, in the order of their ids."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise InvalidInput(f"{root.name!r} is not a folder")
        self._root = root
        self._share = 0.0

    def read_documents(self, skip: int = 0) -> Iterator[Document | UnreadableItem]:
        """Yield one document for each folder, or the reason why it cannot be read."""
        return islice(self._read_folders(), skip, None)

    def take_fingerprint(self) -> str:
        """Return "": the state is unknown without looking at every folder."""
        return ""

    def share_read(self) -> float:
        """Return the share that has been read, from 0 to 1."""
        return self._share

    def _read_folders(self) -> Iterator[Document | UnreadableItem]:
        folders = _folders_of(self._root)
        with FileReader() as reader:
            for number, folder in enumerate(folders, start=1):
                self._share = number / len(folders)
                found = _read_document(folder, reader)
                if found is not None:
                    yield found


def upload_states_of(root: Path, indexed: Mapping[tuple[str, str], StoredState], failed: Mapping[str, str]) -> list[UploadState]:
    """Return the state of each document under `root`.

    `indexed` has the store's states by address and snapshot, `failed` the reasons of the documents that a build skipped, by id.
    """
    states = []
    for folder in _folders_of(root) if root.is_dir() else ():
        about, reading = _load(folder / ABOUT, UploadAbout), _load(folder / READ, UploadReading)
        if about is not None:
            states.append(_state_of(folder.name, about, reading, indexed, failed))
    return states


def _state_of(
    name: str,
    about: UploadAbout,
    reading: UploadReading | None,
    indexed: Mapping[tuple[str, str], StoredState],
    failed: Mapping[str, str],
) -> UploadState:
    if reading is None:
        return UploadState(name, about.address, "failed" if name in failed else "received", failed.get(name, ""), "", 0)
    if reading.error:
        return UploadState(name, about.address, "failed", reading.error, "", 0)
    live = indexed.get((about.address, reading.snapshot)) is StoredState.LIVE
    state = "indexed" if live else "parsed"
    return UploadState(name, about.address, state, reading.note, reading.snapshot, reading.characters)


def _folders_of(root: Path) -> list[Path]:
    return sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))


def _read_document(folder: Path, reader: FileReader) -> Document | UnreadableItem | None:
    """Read the document of a folder; None for a folder that was deleted meanwhile, or is incomplete."""
    about = _load(folder / ABOUT, UploadAbout)
    if about is None:
        return None
    try:
        reading, text, blocks = _read_once(folder, about, reader)
    except FileNotFoundError:
        return None
    except OSError as error:
        return UnreadableItem(folder.name, error.strerror or str(error))
    if reading.error:
        return UnreadableItem(folder.name, reading.error)
    source = Source(
        url=about.address,
        title=about.name,
        snapshot=reading.snapshot,
        author=reading.author,
        published=read_date(reading.published),
        kind="file",
    )
    return Document(source=source, text=text, blocks=blocks)


def _read_once(folder: Path, about: UploadAbout, reader: FileReader) -> tuple[UploadReading, str, tuple[Block, ...]]:
    """Return the stored reading with its text and blocks, or read the file now."""
    known = _load(folder / READ, UploadReading)
    if known is not None and known.readers == READERS_VERSION:
        if known.error:
            return known, "", ()
        return known, (folder / TEXT).read_bytes().decode(), read_blocks(json.loads((folder / BLOCKS).read_bytes()))
    content = (folder / f"{ORIGINAL}{about.suffix}").read_bytes()
    try:
        found = reader.read(about.suffix, content)
    except SourceUnreadable as error:
        found, reading = Extract(""), UploadReading(readers=READERS_VERSION, error=str(error))
    else:
        reading = _store_text(folder, found, about.name)
    _write(folder / READ, reading.model_dump_json())
    return reading, found.text, found.blocks


def _store_text(folder: Path, found: Extract, name: str) -> UploadReading:
    _write(folder / TEXT, found.text)
    _write(folder / BLOCKS, json.dumps(found.blocks))
    published = found.find_date(PurePosixPath(name).stem)
    return UploadReading(
        readers=READERS_VERSION,
        snapshot=snapshot_hash(found.text),
        note=found.note,
        author=found.author[:200],
        published=published.isoformat() if published else "",
        characters=len(found.text),
    )


def _load(path: Path, kind: type[V]) -> V | None:
    try:
        return kind.of_any_version(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValidationError):
        return None


def _write(path: Path, text: str) -> None:
    """Write a file in one step, so that an interrupted reading leaves nothing that looks complete."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_bytes(text.encode())
    os.replace(fresh, path)
