"""A reader of HTML files: readable text without navigation, scripts and comments."""

import re
from collections.abc import Iterable, Iterator

import trafilatura
from lxml import html as parser
from lxml.etree import LxmlError

from app.domain.errors import SourceUnreadable
from retrieval.corpora.extract import Extract
from retrieval.corpora.html_blocks import wrap_loose_text
from retrieval.corpora.plain import decode_text
from retrieval.language.stated_date import read_stated_date

_UNSEEN = ("script", "style", "noscript", "template", "head")
_TITLES = ("h1", "h2", "h3", "h4", "h5", "h6", "summary", "caption", "figcaption")
_BLOCKS = (*_TITLES, "p", "div", "li", "dt", "dd", "tr", "blockquote", "pre", "section", "article", "details", "br")
_SPACE = re.compile(r"[ \t\r\n\f]+")
_CODE = re.compile(r"(<pre\b(?:(?!<pre\b).)*?</pre\s*>)", re.IGNORECASE | re.DOTALL)


def read_html(content: bytes) -> Extract:
    """Read an HTML page: its main text by trafilatura, or all visible text of a page without a main text."""
    page = trafilatura.load_html(content)
    if page is None:
        raise SourceUnreadable("is not HTML")
    blocks, published = _list_code_blocks(page), read_stated_date(page)
    wrap_loose_text(page)
    found = trafilatura.bare_extraction(page, include_comments=False, include_tables=True, favor_recall=True, with_metadata=True)
    if found is None or isinstance(found, dict) or not found.text:
        page = decode_text(content)
        return Extract(visible_text_of(page), title=_title_of(page), published=published)
    text = _split_paragraphs(found.text, blocks)
    return Extract(text, title=found.title or "", author=found.author or "", published=published)


def _list_code_blocks(page: parser.HtmlElement) -> list[str]:
    """Return the texts of which a browser shows every line and its indentation."""
    return ["\n".join(str(element.text_content()).splitlines()).strip("\n") for element in page.iter("pre")]


def _split_paragraphs(text: str, blocks: Iterable[str]) -> str:
    """Put a blank line after each line. The lines of a block of code stay together, as they were indented."""
    known: dict[str, list[tuple[list[str], str]]] = {}
    for block in dict.fromkeys(blocks):
        if lines := _list_lines(block):
            known.setdefault(lines[0], []).append((lines, block))
    return "\n\n".join(_join_code(_list_lines(text), known))


def _list_lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _join_code(lines: list[str], known: dict[str, list[tuple[list[str], str]]]) -> Iterator[str]:
    """Yield the lines, but for those of a block that block. `known` has blocks, with their lines, by their first line."""
    at = 0
    while at < len(lines):
        there = (block for block in known.get(lines[at], ()) if lines[at : at + len(block[0])] == block[0])
        found, text = next(there, (lines[at : at + 1], lines[at]))
        yield text
        at += len(found)


def visible_text_of(page: str) -> str:
    """Return all visible text of an HTML page, with blank lines between paragraphs. A line's end is a blank, except in code."""
    folded = "".join(part if _CODE.match(part) else _SPACE.sub(" ", part) for part in _CODE.split(page))
    try:
        tree = parser.fromstring(folded.encode(), parser=parser.HTMLParser(encoding="utf-8"))
    except (LxmlError, ValueError) as error:
        raise SourceUnreadable(f"is not HTML ({error})") from error
    for element in list(tree.iter(*_UNSEEN)):
        element.drop_tree()
    for cell in tree.iter("td", "th"):
        if cell.getnext() is not None:
            cell.tail = " | "
    for element in tree.iter(*_BLOCKS):
        element.text = "\n" + (element.text or "")
        element.tail = "\n" + (element.tail or "")
    return _split_paragraphs(str(tree.text_content()), _list_code_blocks(tree))


def _title_of(page: str) -> str:
    found = re.search(r"<title[^>]*>(.*?)</title>", page, re.IGNORECASE | re.DOTALL)
    return " ".join(found.group(1).split()) if found else ""
