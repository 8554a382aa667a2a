"""A reader of HTML files: readable text without navigation, scripts and comments."""

import re

import trafilatura
from lxml import html as parser
from lxml.etree import LxmlError

from app.domain.errors import SourceUnreadable
from retrieval.corpora.extract import Extract
from retrieval.corpora.plain import decode_text
from retrieval.language.dates import read_date

_UNSEEN = ("script", "style", "noscript", "template", "head")
_TITLES = ("h1", "h2", "h3", "h4", "h5", "h6", "summary", "caption", "figcaption")
_BLOCKS = (*_TITLES, "p", "div", "li", "dt", "dd", "tr", "blockquote", "pre", "section", "article", "details", "br")
_GAP = re.compile(r"[ \t]*\n\s*")


def read_html(content: bytes) -> Extract:
    """Read an HTML page: its main text by trafilatura, or all visible text of a page without a main text."""
    page = trafilatura.load_html(content)
    if page is None:
        raise SourceUnreadable("is not HTML")
    found = trafilatura.bare_extraction(page, include_comments=False, include_tables=True, favor_recall=True, with_metadata=True)
    if found is None or isinstance(found, dict) or not found.text:
        page = decode_text(content)
        return Extract(visible_text_of(page), title=_title_of(page))
    return Extract(
        _split_paragraphs(found.text), title=found.title or "", author=found.author or "", published=read_date(found.date)
    )


def _split_paragraphs(text: str) -> str:
    return _GAP.sub("\n\n", text).strip()


def visible_text_of(page: str) -> str:
    """Return all visible text of an HTML page, with blank lines between paragraphs."""
    try:
        tree = parser.fromstring(page.encode(), parser=parser.HTMLParser(encoding="utf-8"))
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
    return _split_paragraphs(str(tree.text_content()))


def _title_of(page: str) -> str:
    found = re.search(r"<title[^>]*>(.*?)</title>", page, re.IGNORECASE | re.DOTALL)
    return " ".join(found.group(1).split()) if found else ""
