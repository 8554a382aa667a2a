"""A reader of PDF files, page by page, which joins lines into paragraphs."""

import io
import logging
import re
import struct
import unicodedata
import zlib
from collections.abc import Iterator
from datetime import timedelta
from time import monotonic

from pypdf import PdfReader
from pypdf.errors import DependencyError, PyPdfError

from app.domain.errors import SourceUnreadable
from app.domain.script import IDEOGRAPHS
from retrieval.corpora.extract import Extract

MAX_PAGES = 2_000
MAX_TIME = timedelta(minutes=2)
_PARSER_ERRORS = (PyPdfError, ValueError, LookupError, TypeError, AttributeError, RecursionError, ArithmeticError, AssertionError)
_DAMAGE = (*_PARSER_ERRORS, NotImplementedError, struct.error, zlib.error, OSError)
_HYPHEN = re.compile(r"(?<=[a-z])-\n(?=[a-z])")
_WRAP = re.compile(rf"(?<=[^\s.!?:;。！？：；])[ \t]*\n(?=[a-z(\"'“‘0-9{IDEOGRAPHS}])")
# Ligatures are typography, not spelling: nobody searches or quotes "e\ufb03cient".
_LIGATURES = str.maketrans({chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)})
logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns of every irregular object; this module reports what matters


def read_pdf(content: bytes, limit: timedelta = MAX_TIME) -> Extract:
    """Read a PDF's text, as many pages as `limit` allows, at least one. `note` says where time or length cut it short.

    Raises `SourceUnreadable` for a PDF without text (scanned pages), with a password or with damage.
    """
    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise SourceUnreadable("is encrypted: a password is needed")
        pages = list(_read_pages(reader, limit))
        total, title, author = len(reader.pages), *_title_and_author_of(reader)
    except DependencyError as error:
        raise SourceUnreadable("is encrypted in a way that cannot be opened here") from error
    except _DAMAGE as error:
        raise SourceUnreadable(f"is damaged or not a PDF ({type(error).__name__}: {error})") from error
    text = "\n\n".join(page for page in pages if page)
    if not text:
        raise SourceUnreadable("has no text: scanned pages need character recognition first")
    note = f"only the first {len(pages)} of {total} pages were read" if len(pages) < total else ""
    return Extract(text, title=title, author=author, note=note)


def _read_pages(reader: PdfReader, limit: timedelta) -> Iterator[str]:
    started = monotonic()
    for number, page in enumerate(reader.pages):
        if number >= MAX_PAGES or (number and monotonic() - started > limit.total_seconds()):
            return
        yield join_lines(page.extract_text() or "")


def join_lines(text: str) -> str:
    """Join lines that the page's width has cut, and spell out ligatures and stacked letters."""
    spelled = unicodedata.normalize("NFC", text.translate(_LIGATURES))
    whole = _HYPHEN.sub("", spelled.replace("\r\n", "\n").replace("\x00", ""))
    return _WRAP.sub(" ", whole).encode("utf-8", errors="replace").decode("utf-8").strip()


def _title_and_author_of(reader: PdfReader) -> tuple[str, str]:
    about = reader.metadata
    return (str(about.title or ""), str(about.author or "")) if about else ("", "")
