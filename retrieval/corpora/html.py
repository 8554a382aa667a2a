"""The reader of HTML: the readable text of pages, files, books and mails, without navigation, scripts and what nobody sees."""

import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from datetime import date
from typing import NamedTuple

import trafilatura
from lxml import html as parser
from lxml.etree import LxmlError, strip_attributes
from lxml.html import HtmlElement
from trafilatura.metadata import extract_metadata
from trafilatura.settings import Document

from app.domain.blocks import BlockKind
from app.domain.errors import SourceUnreadable
from retrieval.corpora.extract import Extract
from retrieval.corpora.formulas import write_formulas
from retrieval.corpora.html_blocks import wrap_loose_text
from retrieval.corpora.html_lists import drop_bullets, find_first_text, number_items
from retrieval.corpora.html_marks import write_marks
from retrieval.corpora.html_tables import flatten_cells, spread_cells
from retrieval.corpora.marks import begins_marked, drop_marks, mark, mark_code
from retrieval.fetch.charset import decode_page
from retrieval.fetch.hidden import HiddenText, take_hidden
from retrieval.fetch.invisible import split_visible
from retrieval.language.sentences import CELL
from retrieval.language.stated_date import read_stated_date

THIN_CHARS = 80
PAGE_FORM_CHARS = 200
"""A form with more text than this holds the page itself: ASP.NET encloses the whole body in one."""
_CONTROLS = ("button", "input", "select", "option", "textarea", "label")
_DROPPED = ("script", "style", "iframe", "object", "embed", "svg", "canvas", "link", "base", "template", "noscript", *_CONTROLS)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_TITLES = (*_HEADINGS, "summary", "caption", "figcaption")
_BLOCKS = (*_TITLES, "p", "div", "li", "dt", "dd", "tr", "blockquote", "pre", "section", "article", "details", "br")
# Control characters: lxml reads them where a page spells them as references, and refuses every text with them that is set.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_BEFORE_MARK = re.compile(r"^([-|] )([\ufdd0-\ufddf]+)")
_SHOWN = {code: code - 0xFDD0 + 0x1D9D0 for code in range(0xFDD0, 0xFDF0)}
"""Marks as letters of SignWriting while the extraction works, which drops what cannot be printed."""
_MARKS = {shown: code for code, shown in _SHOWN.items()}
_SPACE = re.compile(r"[ \t\r\n\f]+")


class PageText(NamedTuple):
    """The marked text of a page (`marks`) and what it says of itself. `hidden` are the words that nobody sees.

    `note` says what was not read.
    """

    text: str
    title: str
    author: str
    site: str
    published: date | None
    hidden: str
    note: str


def read_html(content: bytes) -> Extract:
    """Read a file of HTML."""
    page = read_page(decode_page(content))
    return Extract(page.text, title=page.title, author=page.author, published=page.published, note=page.note).read_marks()


def read_page(text: str) -> PageText:
    """Read a page: its main text by trafilatura, or all visible text of a page without a main text.

    Raises:
        SourceUnreadable: it is not HTML.
    """
    page = _parse_page(text)
    spelled = split_visible(str(page.text_content())).hidden  # the next steps drop such characters
    hidden = take_hidden(page)
    stated, published = _read_metadata(page), read_stated_date(page)  # before scripts go: they read JSON-LD
    _clean_page(page, hidden)
    blocks, whole = _list_code_blocks(page), _write_whole(deepcopy(page))
    _join_lines(page)
    flatten_cells(page)
    wrap_loose_text(page)
    main = _split_paragraphs(_extract_text(page), blocks)
    return PageText(
        split_visible(main if len(drop_marks(main)) >= THIN_CHARS else max(main, whole, key=len)).text.strip(),
        title=stated.title or "",
        author=stated.author or "",
        site=stated.sitename or "",
        published=published,
        hidden="\n".join(part for part in (spelled, hidden.text) if part),
        note=hidden.note,
    )


def visible_text_of(text: str) -> str:
    """Return all visible text of a page (a chapter, a mail), marked (`marks`), with blank lines between paragraphs.

    In code alone lines end.
    """
    page = _parse_page(text)
    _clean_page(page, take_hidden(page))
    return split_visible(_write_whole(page)).text


def _parse_page(text: str) -> HtmlElement:
    """Parse a page. What stands before and after its root (an XML declaration, comments) has no parent, and is left out."""
    try:
        page = parser.document_fromstring(
            text.encode("utf-8", "replace"), parser=parser.HTMLParser(encoding="utf-8", huge_tree=False)
        )
    except (LxmlError, ValueError, AssertionError) as error:
        raise SourceUnreadable("is not HTML") from error
    return _drop_unwritable(deepcopy(page))


def _drop_unwritable(page: HtmlElement) -> HtmlElement:
    for element in page.iter():
        for name in ("text", "tail"):
            if _UNWRITABLE.search(said := getattr(element, name) or ""):
                setattr(element, name, _UNWRITABLE.sub("", said))
    return page


def _clean_page(page: HtmlElement, hidden: HiddenText) -> None:
    """Drop what is no text, and write in one line what is raised, lowered or a formula."""
    write_marks(page, hidden.markings)
    for element in list(page.iter(*_DROPPED)):
        if element.getparent() is not None:
            element.drop_tree()
    _unwrap_forms(page)
    spread_cells(page)
    number_items(page, hidden.markings)
    _mark_blocks(page)
    write_formulas(page)
    strip_attributes(page, "style", "aria-hidden", "hidden")  # what is left is shown; the extraction would take it for hidden
    for element in page.iter("dialog"):
        element.tag = "div"  # the extraction drops them; this one is open


def _mark_blocks(page: HtmlElement) -> None:
    """Mark headings and items, so that the extraction tells which lines they are."""
    for element in page.iter(*_HEADINGS, "li"):
        if str(element.text_content()).strip():
            place = find_first_text(element)
            kind, level = (BlockKind.ITEM, 0) if element.tag == "li" else (BlockKind.HEADING, int(element.tag[1]))
            place.text = mark(kind, "x", level).removesuffix("x").translate(_SHOWN) + (place.text or "").lstrip()


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
    return drop_bullets((found.text or "").translate(_MARKS)) if isinstance(found, Document) else ""


def _write_whole(page: HtmlElement) -> str:
    """Return the text of all blocks of a page."""
    for head in list(page.iter("head")):
        head.drop_tree()
    blocks = _list_code_blocks(page)
    _join_lines(page)
    for cell in page.iter("td", "th"):
        if cell.getnext() is not None:
            cell.tail = " | "
    for element in page.iter(*_BLOCKS):
        element.text = f"\n{element.text or ''}"
        element.tail = f"\n{element.tail or ''}"
    return _split_paragraphs(str(page.text_content()), blocks)


def _join_lines(page: HtmlElement) -> None:
    """Join the lines of the file, as a browser does, but for those of code."""
    code = {element for block in page.iter("pre") for element in block.iter()}
    for element in page.iter():
        if element not in code:
            element.text = _SPACE.sub(" ", element.text or "")
        if element not in code or element.tag == "pre":
            element.tail = _SPACE.sub(" ", element.tail or "")


def _list_code_blocks(page: HtmlElement) -> list[str]:
    """Return the texts of which a browser shows every line and its indentation."""
    return ["\n".join(str(element.text_content()).splitlines()).strip("\n") for element in page.iter("pre")]


def _split_paragraphs(text: str, blocks: Iterable[str]) -> str:
    """Put a blank line after each line. The lines of a block of code stay together, as they were indented."""
    known: dict[str, list[tuple[list[str], str]]] = {}
    for block in dict.fromkeys(blocks):
        if lines := _list_lines(block):
            known.setdefault(lines[0], []).append((lines, block))
    return "\n\n".join(_join_code(_list_lines(text.translate(_MARKS)), known))


def _list_lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _join_code(lines: list[str], known: dict[str, list[tuple[list[str], str]]]) -> Iterator[str]:
    """Yield the lines, but for those of a block that block. `known` has blocks, with their lines, by their first line."""
    at = 0
    while at < len(lines):
        there = (block for block in known.get(lines[at], ()) if lines[at : at + len(block[0])] == block[0])
        code = next(there, None)
        yield mark_code(code[1]) if code else _mark_line(lines[at])
        at += len(code[0]) if code else 1


def _mark_line(line: str) -> str:
    """Return a line with the mark of what it is. The bullet or the bar that the extraction puts before a mark follows it."""
    line = _BEFORE_MARK.sub(r"\2\1", line)
    return line if begins_marked(line) else mark(BlockKind.ROW if CELL in line else BlockKind.PARAGRAPH, line)
