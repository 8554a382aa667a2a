"""A reader of PDF files: the text in the order in which people read it, with what is filled in and noted on its pages."""

import unicodedata
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from time import monotonic
from typing import NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

from app.domain.errors import SourceUnreadable
from retrieval.corpora.extract import Extract
from retrieval.corpora.invented import drop_invented_author, drop_invented_title
from retrieval.corpora.pdf.columns import order_lines
from retrieval.corpora.pdf.fields import read_notes
from retrieval.corpora.pdf.filled_in import place_fields
from retrieval.corpora.pdf.lines import Line, build_lines
from retrieval.corpora.pdf.paragraphs import write_paragraphs
from retrieval.corpora.pdf.pieces import read_pieces
from retrieval.corpora.pdf.running_heads import drop_running_heads
from retrieval.language.hyphens import Hyphenation
from retrieval.language.stop_words import SMALL_WORDS, STOP_WORDS

MAX_PAGES = 2_000
MAX_TIME = timedelta(minutes=2)
_READING_SHARE = 0.7
"""The share of the time for reading the letters; the rest is for putting them in order."""
_UNNAMED = 0.3
_SMALL_WORDS_SHARE = 0.1
_PICTURES = (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_SHADING)
_PICTURE_SHARE = 0.3
# Ligatures are typography, not spelling: nobody searches or quotes "e\ufb03cient".
_LIGATURES = str.maketrans({chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)})


class _Page(NamedTuple):
    """What is read of a page. `pictured`: a picture covers much of it; `garbled`: its fonts do not name its letters."""

    lines: list[Line]
    turned: str
    remarks: list[str]
    drawn: bool
    pictured: bool
    garbled: bool


def read_pdf(content: bytes, limit: timedelta = MAX_TIME) -> Extract:
    """Read a PDF's text, as many pages as `limit` allows, at least one. `note` says what is missing: pages, or their text.

    Raises `SourceUnreadable` for a PDF without text (scanned pages, fonts that do not name their letters), with a password or
    with damage.
    """
    try:
        with closing(_open(content)) as document:
            total = len(document)
            title, author = (document.get_metadata_value(key) for key in ("Title", "Author"))
            pages = list(_read_pages(document, limit * _READING_SHARE))
    except pypdfium2.PdfiumError as error:
        raise SourceUnreadable(f"is damaged or not a PDF ({error})") from error
    cleared = drop_running_heads([page.lines for page in pages], [page.pictured for page in pages])
    lines = [page.lines for page in cleared]
    turned = Counter(page.turned for page in pages)
    stamped = [[page.turned] * (turned[page.turned] == 1) for page in pages]  # what each page has is a stamp of the printer's
    remarks = [[*page.lone, *stamp, *read.remarks] for page, stamp, read in zip(cleared, stamped, pages, strict=True)]
    text = _write_text(lines, remarks)
    if not text:
        raise SourceUnreadable(_why_empty(pages))
    note = "; ".join(_list_gaps(pages, lines, total))
    return Extract(text, title=drop_invented_title(title), author=drop_invented_author(author), note=note).read_marks()


def _open(content: bytes) -> pypdfium2.PdfDocument:
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        match error.err_code:
            case pdfium.FPDF_ERR_PASSWORD:
                raise SourceUnreadable("is encrypted: a password is needed") from error
            case pdfium.FPDF_ERR_SECURITY:
                raise SourceUnreadable("is encrypted in a way that cannot be opened here") from error
        raise
    document.init_forms()
    return document


def _read_pages(document: pypdfium2.PdfDocument, limit: timedelta) -> Iterator[_Page]:
    started = monotonic()
    for number in range(min(len(document), MAX_PAGES)):
        if number and monotonic() - started > limit.total_seconds():
            return
        with closing(document[number]) as page, closing(page.get_textpage()) as text:
            yield _read_page(page, text, document.formenv)


def _read_page(page: pypdfium2.PdfPage, text: pypdfium2.PdfTextPage, form: pypdfium2.PdfFormEnv | None) -> _Page:
    found, notes = read_pieces(text), read_notes(page, form)
    garbled = found.unknown > _UNNAMED and not _is_language(" ".join(piece.text for piece in found.pieces))
    pieces = [] if garbled else found.pieces
    lines = build_lines([*pieces, *place_fields(notes.fields, pieces, found.turn)])
    return _Page(
        lines,
        "" if garbled else found.turned,
        notes.remarks,
        drawn=pdfium.FPDFPage_CountObjects(page) > 0,
        pictured=_is_pictured(page),
        garbled=garbled,
    )


def _is_language(text: str) -> bool:
    """Say whether letters that no font names are right by chance, as in old fonts whose codes are those of ASCII."""
    words = text.lower().split()
    return sum(word in STOP_WORDS or word in SMALL_WORDS for word in words if len(word) > 1) > _SMALL_WORDS_SHARE * len(words)


def _is_pictured(page: pypdfium2.PdfPage) -> bool:
    boxes = [item.get_bounds() for item in page.get_objects(filter=_PICTURES, max_depth=2)]
    covered = max(((right - left) * (top - bottom) for left, bottom, right, top in boxes), default=0.0)
    return bool(covered > _PICTURE_SHARE * page.get_width() * page.get_height())


def _write_text(pages: list[list[Line]], remarks: list[list[str]]) -> str:
    sizes: Counter[float] = Counter()
    for line in (line for lines in pages for line in lines):
        sizes[round(line.size, 1)] += len(line.text)
    body_size = max(sizes, key=sizes.__getitem__, default=0.0)
    columns = [order_lines(lines) for lines in pages]
    hyphenation = Hyphenation(line.text for page in columns for column in page for line in column)
    text = write_paragraphs(columns, remarks, body_size, hyphenation)
    return unicodedata.normalize("NFC", text.translate(_LIGATURES)).encode("utf-8", errors="replace").decode().strip()


def _why_empty(pages: list[_Page]) -> str:
    if any(page.garbled for page in pages):
        return "has no readable text: its fonts do not say which letters they show"
    return "has no text: scanned pages need character recognition first"


def _list_gaps(pages: list[_Page], lines: list[list[Line]], total: int) -> Iterator[str]:
    if len(pages) < total:
        yield f"only the first {len(pages)} of {total} pages were read"
    garbled = sum(page.garbled for page in pages)
    silent = sum(page.drawn and not page.garbled and not found for page, found in zip(pages, lines, strict=True))
    if silent:
        yield f"{silent} of {total} pages {'have' if silent > 1 else 'has'} no text"
    if garbled:
        yield f"{garbled} of {total} pages {'have' if garbled > 1 else 'has'} fonts that do not say which letters they show"
