"""A reader of EPUB books, chapter by chapter in reading order."""

import posixpath
import re
import zipfile
from urllib.parse import unquote

from lxml import etree

from app.domain.errors import SourceUnreadable
from retrieval.corpora.extract import Extract
from retrieval.corpora.html import visible_text_of
from retrieval.corpora.plain import decode_text
from retrieval.corpora.zip_package import open_package, parse_xml, resolve_link
from retrieval.language.dates import read_date

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_SHEET = re.compile(r"<link\b[^>]*?href=[\"']([^\"']+\.css)[\"'][^>]*>", re.IGNORECASE)


def read_epub(content: bytes) -> Extract:
    """Read a book's chapters. A book with encrypted chapters (copy protection) is unreadable."""
    with open_package(content, "an EPUB book") as book:
        rootfile = parse_xml(book.read(_CONTAINER)).find(".//{*}rootfile")
        if rootfile is None:
            raise SourceUnreadable("is damaged: its table of contents is missing")
        path = resolve_link("", rootfile.get("full-path", ""))
        package = parse_xml(book.read(path))
        chapters = _chapters_of(package, posixpath.dirname(path))
        if set(chapters) & _encrypted_files(book):
            raise SourceUnreadable("is protected against copying: its chapters are encrypted")
        there = [name for name in chapters if name in book.NameToInfo]
        text = "\n\n".join(filter(None, (visible_text_of(_read_chapter(book, name)) for name in there)))
        missing = len(chapters) - len(there)
        note = f"{missing} of {len(chapters)} chapters are missing from the file" if missing else ""
        about = [_metadata_of(package, field) for field in ("title", "creator", "date")]
        return Extract(text, title=about[0], author=about[1], published=read_date(about[2]), note=note).read_marks()


def _chapters_of(package: etree._Element, folder: str) -> list[str]:
    """Return the names of the chapters' files, in the order of the book's spine."""
    files = {item.get("id"): item.get("href", "") for item in package.findall("{*}manifest/{*}item")}
    spine = [files.get(item.get("idref"), "") for item in package.findall("{*}spine/{*}itemref")]
    return [resolve_link(folder, unquote(href)) for href in spine if href]


def _read_chapter(book: zipfile.ZipFile, name: str) -> str:
    """Return a chapter with its style sheets in it: they say what is hidden, raised or struck."""

    def put_sheet(link: re.Match[str]) -> str:
        sheet = resolve_link(posixpath.dirname(name), unquote(link.group(1)))
        return f"<style>{decode_text(book.read(sheet))}</style>" if sheet in book.NameToInfo else ""

    return _SHEET.sub(put_sheet, decode_text(book.read(name)))


def _encrypted_files(book: zipfile.ZipFile) -> set[str]:
    if _ENCRYPTION not in book.NameToInfo:
        return set()
    return {
        resolve_link("", unquote(entry.get("URI", ""))) for entry in parse_xml(book.read(_ENCRYPTION)).iter("{*}CipherReference")
    }


def _metadata_of(package: etree._Element, field: str) -> str:
    return " ".join((package.findtext(f"{{*}}metadata/{{*}}{field}") or "").split())
