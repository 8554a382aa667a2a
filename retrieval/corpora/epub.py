"""A reader of EPUB books, chapter by chapter in reading order."""

import posixpath
import zipfile
from urllib.parse import unquote

from lxml import etree

from app.domain.errors import SourceUnreadable
from retrieval.corpora.extract import Extract
from retrieval.corpora.html import visible_text
from retrieval.corpora.package import opened, parsed
from retrieval.corpora.plain import decode
from retrieval.language.dates import read_date

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"


def read_epub(content: bytes) -> Extract:
    """Read a book's chapters. A book with encrypted chapters (copy protection) is unreadable."""
    with opened(content, "an EPUB book") as book:
        rootfile = parsed(book.read(_CONTAINER)).find(".//{*}rootfile")
        if rootfile is None:
            raise SourceUnreadable("is damaged: its table of contents is missing")
        path = rootfile.get("full-path", "")
        package = parsed(book.read(path))
        chapters = _chapters(package, posixpath.dirname(path))
        if set(chapters) & _encrypted(book):
            raise SourceUnreadable("is protected against copying: its chapters are encrypted")
        there = [name for name in chapters if name in book.NameToInfo]
        text = "\n\n".join(filter(None, (visible_text(decode(book.read(name))) for name in there)))
        missing = len(chapters) - len(there)
        note = f"{missing} of {len(chapters)} chapters are missing from the file" if missing else ""
        about = [_about(package, field) for field in ("title", "creator", "date")]
        return Extract(text, title=about[0], author=about[1], published=read_date(about[2]), note=note)


def _chapters(package: etree._Element, folder: str) -> list[str]:
    """Return the names of the chapters' files, in the order of the book's spine."""
    files = {item.get("id"): item.get("href", "") for item in package.findall("{*}manifest/{*}item")}
    spine = [files.get(item.get("idref"), "") for item in package.findall("{*}spine/{*}itemref")]
    return [posixpath.normpath(posixpath.join(folder, unquote(href))) for href in spine if href]


def _encrypted(book: zipfile.ZipFile) -> set[str]:
    if _ENCRYPTION not in book.NameToInfo:
        return set()
    return {unquote(entry.get("URI", "")) for entry in parsed(book.read(_ENCRYPTION)).iter("{*}CipherReference")}


def _about(package: etree._Element, field: str) -> str:
    return " ".join((package.findtext(f"{{*}}metadata/{{*}}{field}") or "").split())
