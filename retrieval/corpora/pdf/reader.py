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
from retrieval.corpora.pdf.appearances import read_appearances, write_remarks
from retrieval.corpora.pdf.columns import order_lines
from retrieval.corpora.pdf.fields import PageNotes, read_notes
from retrieval.corpora.pdf.filled_in import place_fields
from retrieval.corpora.pdf.lines import Line, build_lines
from retrieval.corpora.pdf.paragraphs import write_paragraphs
from retrieval.corpora.pdf.pieces import PageText, Piece, read_pieces
from retrieval.corpora.pdf.running_heads import drop_running_heads
from retrieval.corpora.pdf.unnamed import UNNAMED, find_ascii_fonts, hide_letters, name_letters
from retrieval.language.hyphens import Hyphenation

MAX_PAGES = 2_000
MAX_TIME = timedelta(minutes=2)
_READING_SHARE = 0.7
"""The share of the time for reading the letters; the rest is for putting them in order."""
_MAX_UNNAMED = 0.3
_PICTURES = (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_SHADING)
_PICTURE_SHARE = 0.3
# Ligatures are typography, not spelling: nobody searches or quotes "e\ufb03cient".
_LIGATURES = str.maketrans({chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)})


class _ReadPage(NamedTuple):
    """What PDFium finds on a page. `shown`: the text of stamps and free texts; `pictured`: a picture covers much of it."""

    found: PageText
    notes: PageNotes
    shown: list[Piece]
    drawn: bool
    pictured: bool


class _Page(NamedTuple):
    """The text of a page. `unnamed` is the share of letters that its fonts do not name; of a `garbled` page none is kept."""

    lines: list[Line]
    turned: str
    remarks: list[str]
    drawn: bool
    pictured: bool
    unnamed: float
    garbled: bool


def read_pdf(content: bytes) -> Extract:
    """Read a PDF's text and its blocks, as `read_marked_pdf` does."""
    return read_marked_pdf(content).read_marks()


def read_marked_pdf(content: bytes, limit: timedelta = MAX_TIME) -> Extract:
    """Read the marked text (`marks`) of as many pages as `limit` allows, at least one. `note` says what is missing.

    Raises `SourceUnreadable` for a PDF without text (scanned pages, fonts that do not name their letters), with a password or
    with damage.
    """
    try:
        with closing(_open(content)) as document:
            total = len(document)
            title, author = (document.get_metadata_value(key) for key in ("Title", "Author"))
            read = list(_read_pages(document, limit * _READING_SHARE))
    except pypdfium2.PdfiumError as error:
        raise SourceUnreadable(f"is damaged or not a PDF ({error})") from error
    ascii_fonts = find_ascii_fonts(piece for page in read for piece in page.found.pieces)
    pages = [_build_page(page, ascii_fonts) for page in read]
    cleared = drop_running_heads([page.lines for page in pages], [page.pictured for page in pages])
    lines = [page.lines for page in cleared]
    turned = Counter(page.turned for page in pages)
    stamped = [[page.turned] * (turned[page.turned] == 1) for page in pages]  # what each page has is a stamp of the printer's
    remarks = [[*page.lone, *stamp, *read.remarks] for page, stamp, read in zip(cleared, stamped, pages, strict=True)]
    text = _write_text(lines, remarks)
    if not text:
        raise SourceUnreadable(_why_empty(pages))
    note = "; ".join(_list_gaps(pages, lines, total))
    return Extract(text, title=drop_invented_title(title), author=drop_invented_author(author), note=note)


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


def _read_pages(document: pypdfium2.PdfDocument, limit: timedelta) -> Iterator[_ReadPage]:
    started = monotonic()
    for number in range(min(len(document), MAX_PAGES)):
        if number and monotonic() - started > limit.total_seconds():
            return
        with closing(document[number]) as page, closing(page.get_textpage()) as text:
            drawn = pdfium.FPDFPage_CountObjects(page) > 0
            read = _ReadPage(read_pieces(text), read_notes(page, document.formenv), [], drawn, _is_pictured(page))
        placed = any(remark.box for remark in read.notes.remarks)
        yield read._replace(shown=read_appearances(document, number)) if placed else read


def _build_page(read: _ReadPage, ascii_fonts: set[str]) -> _Page:
    pieces = [name_letters(piece, ascii_fonts) for piece in read.found.pieces]
    letters = "".join(piece.text for piece in pieces)
    unnamed = letters.count(UNNAMED) / max(len(letters), 1)
    garbled = unnamed > _MAX_UNNAMED
    pieces = [] if garbled else pieces
    lines = build_lines([*pieces, *place_fields(read.notes.fields, pieces, read.found.turn)])
    turned = "" if garbled else hide_letters(read.found.turned)
    remarks = write_remarks(read.notes.remarks, read.shown, pieces, read.found.turn)
    return _Page(lines, turned, remarks, read.drawn, read.pictured, unnamed, garbled)


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
    partly = [page.unnamed for page in pages if page.unnamed and not page.garbled]
    if partly:
        have = f"{len(partly)} of {total} pages {'have' if len(partly) > 1 else 'has'}"
        share = f"at most {max(*partly, 0.01):.0%} of a page"
        yield f"{have} some letters that their fonts do not name ({share}): {UNNAMED} stands for each"
