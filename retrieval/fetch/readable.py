"""The readable text of a page's bytes. It runs in a separate process: see `parsing`."""

from datetime import timedelta
from time import monotonic

from retrieval.corpora.html import read_page
from retrieval.corpora.marks import take_marks
from retrieval.fetch.charset import decode_page
from retrieval.fetch.content import HTML, PDF, PLAIN, ReadableContent
from retrieval.fetch.hidden import MAX_CHARS
from retrieval.fetch.invisible import split_visible

TITLE_CHARS = 300
PDF_TEXT_TIME = timedelta(seconds=10)
TABLES_TIME = timedelta(seconds=8)
PDF_TIME = timedelta(seconds=15)
"""For text and tables together. The rest of the 20 seconds of a child is for the page that is read when the time is over."""


def read_content(content: bytes, content_type: str, charset: str = "") -> ReadableContent:
    """Read the text of a page, PDF or text file. Raises `SourceUnreadable` with the reason."""
    if content.lstrip()[:5] == b"%PDF-":
        return _read_pdf(content)
    if content_type in PDF and not content.lstrip().startswith(b"<"):
        return _read_pdf(content)
    text = decode_page(content, charset)
    if content_type in PLAIN or (content_type not in HTML and "<" not in text[:1_000]):
        plain = split_visible(text)
        return ReadableContent(**take_marks(plain.text)._asdict(), hidden=plain.hidden[:MAX_CHARS], kind="text")
    return _read_page(text)


def _read_page(text: str) -> ReadableContent:
    page = read_page(text)
    return ReadableContent(
        **take_marks(page.text)._asdict(),
        title=_line_of(page.title),
        author=_line_of(page.author or page.site),
        published=page.published,
        hidden=page.hidden[:MAX_CHARS],
        note=page.note,
    )


def _read_pdf(content: bytes) -> ReadableContent:
    from retrieval.corpora.pdf.reader import read_marked_pdf
    from retrieval.fetch.pdf_tables import read_tables

    started = monotonic()
    found = read_marked_pdf(content, PDF_TEXT_TIME)
    left = PDF_TIME - timedelta(seconds=monotonic() - started)
    tables = read_tables(content, min(left, TABLES_TIME)) if left > timedelta(0) else ""
    plain = split_visible("\n\n".join(part for part in (found.text, tables) if part))
    return ReadableContent(
        **take_marks(plain.text)._asdict(),
        title=_line_of(found.title),
        author=_line_of(found.author),
        kind="pdf",
        hidden=plain.hidden[:MAX_CHARS],
    )


def _line_of(text: str) -> str:
    return " ".join(split_visible(text).text.split())[:TITLE_CHARS]
