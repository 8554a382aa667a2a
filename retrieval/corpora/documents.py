"""A user's own files as a corpus: text, web, Office and book formats. Every file is either read or reported with a reason.

A child process reads files that need a parser, as it does for uploads: strangers may have made them.
"""

import os
import stat
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from app.domain.errors import InvalidInput, SourceUnreadable
from app.domain.evidence import Source, snapshot_hash
from app.domain.safe_text import make_safe, make_safe_line
from retrieval.corpora.extract import Extract
from retrieval.corpora.file_reader import READING_LIMIT, FileReader
from retrieval.corpora.ports import READABLE_KINDS, UnreadableItem
from retrieval.ports import Document

MAX_BYTES = 64 << 20
MAX_CHARS = 20_000_000
PLAIN = ("", ".txt", ".text", ".rst")
_PLACEHOLDERS = frozenset(["anonymous", "unknown", "unspecified", "untitled"])


class FolderCorpus:
    """The files under `root`, in alphabetical order. Names that begin with a dot are left out.

    A file's address is `file:///<folder's name>/<path in it>`, which stays when the folder moves and does not reveal its place.
    `limit` is the time for reading one file.
    """

    def __init__(self, root: Path, limit: timedelta = READING_LIMIT) -> None:
        if not root.is_dir():
            raise InvalidInput(f"{root.name or str(root)!r} is not a folder")
        self._root = root.resolve()
        self._limit = limit

    def read_documents(self, skip: int = 0) -> Iterator[Document | UnreadableItem]:
        """Yield one document for each file, and one report for each file or folder that cannot be read completely."""
        return islice(self._read_folder(), skip, None)

    def take_fingerprint(self) -> str:
        """Return "": the state is unknown without reading every file."""
        return ""

    def share_read(self) -> float:
        """Return 0: the share is unknown before the last folder is listed."""
        return 0.0

    def _read_folder(self) -> Iterator[Document | UnreadableItem]:
        failed: list[UnreadableItem] = []
        with FileReader(self._limit) as reader:
            for folder, names, files in os.walk(self._root, onerror=lambda error: failed.append(self._unreadable_of(error))):
                names[:] = sorted(name for name in names if not name.startswith("."))
                linked = [name for name in names if (Path(folder) / name).is_symlink()]
                for name in sorted([*files, *linked]):
                    if not name.startswith("."):
                        yield from self._read_item(Path(folder) / name, reader)
                yield from failed
                failed.clear()

    def _read_item(self, path: Path, reader: FileReader) -> Iterator[Document | UnreadableItem]:
        relative = path.relative_to(self._root).as_posix()
        shown = _make_readable(relative)
        try:
            found = read_file(path, self._root, reader)
        except SourceUnreadable as error:
            yield UnreadableItem(shown, str(error))
            return
        except OSError as error:
            yield UnreadableItem(shown, error.strerror or str(error))
            return
        if found.note:
            yield UnreadableItem(shown, found.note)
        yield Document(source=self._source_of(path, relative, found), text=found.text, blocks=found.blocks)

    def _source_of(self, path: Path, relative: str, found: Extract) -> Source:
        url = f"file:///{quote(os.fsencode(self._root.name))}/{quote(os.fsencode(relative))}"
        title = " ".join(found.title.split())[:300] or _make_readable(path.stem)
        snapshot, published = snapshot_hash(found.text), found.find_date(_make_readable(path.stem))
        return Source(url=url, title=title, snapshot=snapshot, author=found.author[:200], published=published, kind="file")

    def _unreadable_of(self, error: OSError) -> UnreadableItem:
        where = Path(error.filename or self._root)
        relative = where.relative_to(self._root).as_posix() if where.is_relative_to(self._root) else where.name
        return UnreadableItem(_make_readable(relative), error.strerror or str(error))


def _make_readable(name: str) -> str:
    """Return a file's name as text that can be stored, also where it is not UTF-8."""
    return make_safe_line(os.fsencode(name).decode("utf-8", errors="replace"))


def read_file(path: Path, root: Path, reader: FileReader) -> Extract:
    """Read one file under `root`: plain text here, everything else by `reader`.

    Raises:
        SourceUnreadable: it is a link, not a file, too large, of an unknown kind, not text, damaged, encrypted or empty.
        OSError: the file system refuses.
    """
    if path.is_symlink():
        inside = path.resolve().is_relative_to(root)
        raise SourceUnreadable("is a link to something in this folder" if inside else "is a link that leads out of the folder")
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise SourceUnreadable("is not a file")
    if status.st_size > MAX_BYTES:
        raise SourceUnreadable(f"is too large: {status.st_size >> 20} MiB, at most {MAX_BYTES >> 20} are read")
    suffix, content = _make_readable(path.suffix.lower()), path.read_bytes()
    return read_content(suffix, content) if suffix in PLAIN else reader.read(suffix, content)


def read_content(suffix: str, content: bytes) -> Extract:
    """Read the text of a file with this ending (in lower case). Raises `SourceUnreadable` with the reason where there is none."""
    found = _reader_of(suffix)(content)
    text = make_safe(found.text).strip()
    if not text:
        raise SourceUnreadable("is empty")
    if len(text) > MAX_CHARS:
        raise SourceUnreadable(f"is too long: {len(text):,} characters, at most {MAX_CHARS:,} are read")
    title, author, note = map(make_safe, (_drop_placeholder(found.title), _drop_placeholder(found.author), found.note))
    return found._replace(text=_drop_surrogates(text), title=title, author=author, note=note)


def _drop_placeholder(told: str) -> str:
    """Return a title or an author, empty where a program wrote that it knows none."""
    return "" if told.strip(" ()").casefold() in _PLACEHOLDERS else told


def _drop_surrogates(text: str) -> str:
    """Return the text without lone surrogates, which no snapshot can hold."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


def _reader_of(suffix: str) -> Callable[[bytes], Extract]:
    """Return the reader of a kind of file. The first such file imports its libraries."""
    match suffix:
        case _ if suffix in PLAIN:
            from retrieval.corpora.plain import read_plain

            return read_plain
        case ".md" | ".markdown":
            from retrieval.corpora.markdown import read_markdown

            return read_markdown
        case ".html" | ".htm" | ".xhtml":
            from retrieval.corpora.html import read_html

            return read_html
        case ".pdf":
            from retrieval.corpora.pdf.reader import read_pdf

            return read_pdf
        case ".csv" | ".tsv":
            from retrieval.corpora.table import read_table

            return read_table
        case ".eml":
            from retrieval.corpora.mail import read_mail

            return read_mail
        case ".epub":
            from retrieval.corpora.epub import read_epub

            return read_epub
    return _office_reader_of(suffix)


def _office_reader_of(suffix: str) -> Callable[[bytes], Extract]:
    match suffix:
        case ".docx" | ".docm":
            from retrieval.corpora.office.word import read_docx

            return read_docx
        case ".pptx" | ".pptm":
            from retrieval.corpora.office.slides import read_pptx

            return read_pptx
        case ".xlsx" | ".xlsm":
            from retrieval.corpora.office.workbook import read_xlsx

            return read_xlsx
    raise SourceUnreadable(f"is of a kind that is not read ({suffix}); {READABLE_KINDS} are")
