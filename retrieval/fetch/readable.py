"""The readable text of a page's bytes. It runs in a separate process: see `parsing`."""

from datetime import timedelta
from time import monotonic

import trafilatura
from lxml import html as parser
from lxml.etree import LxmlError, strip_attributes
from lxml.html import HtmlElement
from trafilatura.metadata import extract_metadata
from trafilatura.settings import Document

from app.domain.errors import SourceUnreadable
from retrieval.corpora.html_blocks import wrap_loose_text
from retrieval.fetch.charset import decode_page
from retrieval.fetch.content import HTML, PDF, PLAIN, ReadableContent
from retrieval.fetch.formulas import write_formulas, write_powers
from retrieval.fetch.hidden import MAX_CHARS, take_hidden
from retrieval.fetch.invisible import split_visible
from retrieval.language.stated_date import read_stated_date

TITLE_CHARS = 300
THIN_CHARS = 80
PDF_TEXT_TIME = timedelta(seconds=10)
TABLES_TIME = timedelta(seconds=8)
PDF_TIME = timedelta(seconds=15)
"""For text and tables together. The rest of the 20 seconds of a child is for the page that is read when the time is over."""
PAGE_FORM_CHARS = 200
"""A form with more text than this holds the page itself: ASP.NET encloses the whole body in one."""
_CONTROLS = ("button", "input", "select", "option", "textarea", "label")
_DROPPED = ("script", "style", "iframe", "object", "embed", "svg", "canvas", "link", "base", *_CONTROLS)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = ("p", "div", "li", "tr", "td", "th", *_HEADINGS, "blockquote", "pre", "section", "article", "br")


def read_content(content: bytes, content_type: str, charset: str = "") -> ReadableContent:
    """Read the text of a page, PDF or text file. Raises `SourceUnreadable` with the reason."""
    if content.lstrip()[:5] == b"%PDF-":
        return _read_pdf(content)
    if content_type in PDF and not content.lstrip().startswith(b"<"):
        return _read_pdf(content)
    text = decode_page(content, charset)
    if content_type in PLAIN or (content_type not in HTML and "<" not in text[:1_000]):
        plain = split_visible(text)
        return ReadableContent(text=plain.text.strip(), hidden=plain.hidden[:MAX_CHARS], kind="text")
    return _read_page(text)


def _read_page(text: str) -> ReadableContent:
    page = _parse_page(text)
    spelled = split_visible(str(page.text_content())).hidden  # the next steps drop such characters
    hidden = take_hidden(page)
    strip_attributes(page, "style", "aria-hidden", "hidden")  # what is left is shown; the extraction would take it for hidden
    for element in page.iter("dialog"):
        element.tag = "div"  # the extraction drops them; this one is open
    stated, published = _read_metadata(page), read_stated_date(page)  # before scripts go: they read JSON-LD
    for element in list(page.iter(*_DROPPED)):
        if element.getparent() is not None:
            element.drop_tree()
    _unwrap_forms(page)
    write_powers(page)
    write_formulas(page)
    wrap_loose_text(page)
    body = _extract_text(page)
    if len(body) < THIN_CHARS:
        body = max(body, _visible_text_of(page), key=len)
    return ReadableContent(
        text=split_visible(body).text.strip(),
        title=_line_of(stated.title or ""),
        author=_line_of(stated.author or stated.sitename or ""),
        published=published,
        hidden="\n".join(part for part in (spelled, hidden.text) if part)[:MAX_CHARS],
        note=hidden.note,
    )


def _parse_page(text: str) -> HtmlElement:
    try:
        page = parser.document_fromstring(
            text.encode("utf-8", "replace"), parser=parser.HTMLParser(encoding="utf-8", huge_tree=False)
        )
    except (LxmlError, ValueError, AssertionError) as error:
        raise SourceUnreadable("is not HTML") from error
    return page


def _unwrap_forms(page: HtmlElement) -> None:
    """Drop forms, but keep the content of one that holds a text."""
    for form in list(page.iter("form")):
        if len(" ".join(str(form.text_content()).split())) > PAGE_FORM_CHARS:
            form.tag = "div"  # the extraction drops every form
        else:
            form.drop_tree()


def _read_metadata(page: HtmlElement) -> Document:
    """Return what the page says of itself; nothing where that is malformed, since the text may be fine."""
    try:
        return extract_metadata(page, extensive=False)
    except (TypeError, ValueError):
        return Document()


def _extract_text(page: HtmlElement) -> str:
    """Return the main text that trafilatura finds; empty where it finds none."""
    found = trafilatura.bare_extraction(page, include_comments=False, include_tables=True, favor_recall=True)
    return (found.text or "") if isinstance(found, Document) else ""


def _visible_text_of(page: HtmlElement) -> str:
    """Return all visible text, for a page without a main text."""
    body = page.find("body")
    if body is None:
        return ""
    for element in body.iter(*_BLOCKS):
        element.tail = "\n" + (element.tail or "")
    lines = (" ".join(line.split()) for line in str(body.text_content()).splitlines())
    return "\n\n".join(line for line in lines if line)


def _read_pdf(content: bytes) -> ReadableContent:
    from retrieval.corpora.pdf import read_pdf
    from retrieval.fetch.pdf_tables import read_tables

    started = monotonic()
    found = read_pdf(content, PDF_TEXT_TIME)
    left = PDF_TIME - timedelta(seconds=monotonic() - started)
    tables = read_tables(content, min(left, TABLES_TIME)) if left > timedelta(0) else ""
    plain = split_visible("\n\n".join(part for part in (found.text, tables) if part))
    return ReadableContent(
        text=plain.text, title=_line_of(found.title), author=_line_of(found.author), kind="pdf", hidden=plain.hidden[:MAX_CHARS]
    )


def _line_of(text: str) -> str:
    return " ".join(split_visible(text).text.split())[:TITLE_CHARS]
