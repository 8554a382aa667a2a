"""The raised, lowered and struck text of a page, so that its numbers keep their value in one line."""

import re
from collections.abc import Mapping, Set

from lxml.html import HtmlElement

from retrieval.corpora.raised import is_mark, write_lowered, write_raised
from retrieval.fetch.styles.boxes import INLINE

_STRUCK = ("del", "s", "strike")
_SAYS_NOTE = re.compile(r"note[-_]?ref|footnote|endnote|\bfn(?:ref)?\b|\breference\b|cite[-_]?ref", re.IGNORECASE)
_TAGS = {"text-decoration-line: line-through": "s", "vertical-align: super": "sup", "vertical-align: sub": "sub"}
_CONTEXT = 80


def write_marks(page: HtmlElement, markings: Mapping[HtmlElement, Set[str]]) -> None:
    """Drop struck text and the marks of notes, and write powers with "^". What begins a block stays: it is a note's number.

    `markings` are the styles that elements have (`hidden`).
    """
    for element, said in markings.items():
        tag = next((tag for style, tag in _TAGS.items() if style in said), "")
        if tag and element.tag in INLINE:
            element.tag = tag
    for element in list(page.iter(*_STRUCK)):
        element.drop_tree()
    for element in list(page.iter("a", "sup", "sub")):
        if element.getparent() is not None:
            _write_mark(element)


def _write_mark(element: HtmlElement) -> None:
    said, before = str(element.text_content()), _text_before(element)
    if element.tag == "sub":
        _replace(element, said, write_lowered(before, said))
    elif not before.strip():
        if element.tag == "sup" and _leads_to_note(element) and not (element.tail or " ").startswith(" "):
            element.tail = f" {element.tail}"
    elif is_mark(said) and _leads_to_note(element):
        _replace(element, said, "")
    elif element.tag == "sup":
        _replace(element, said, write_raised(before, said, _text_after(element)))


def _replace(element: HtmlElement, said: str, written: str) -> None:
    if written != said:
        element.clear(keep_tail=True)
        element.tag, element.text = "span", written


def _leads_to_note(element: HtmlElement) -> bool:
    """Say whether a mark is one of a note: it says so itself, or it is raised and leads to a place in a page."""
    said = element.text_content()
    around = [outer for outer in element.iterancestors(*INLINE) if outer.text_content() == said]
    parts = [element, *element.iterdescendants(), *around]
    if any("noteref" in f"{part.get('epub:type', '')} {part.get('role', '')}" for part in parts):
        return True
    if any("#" in part.get("href", "") and _SAYS_NOTE.search(part.get("class", "")) for part in parts):
        return True  # a style sheet raises it
    raised = any(part.tag == "sup" for part in parts)
    return raised and any("#" in part.get("href", "") or _SAYS_NOTE.search(part.get("class", "")) for part in parts)


def _text_before(element: HtmlElement) -> str:
    """Return the end of what stands before an element in its block."""
    text, at = "", element
    while len(text) < _CONTEXT:
        for sibling in at.itersiblings(preceding=True):
            text = f"{sibling.tail or ''}{text}"
            if sibling.tag not in INLINE or len(text) >= _CONTEXT:
                return text
            text = f"{sibling.text_content()}{text}"
        parent = at.getparent()
        if parent is None:
            return text
        text, at = f"{parent.text or ''}{text}", parent
        if parent.tag not in INLINE:
            return text
    return text


def _text_after(element: HtmlElement) -> str:
    parent = element.getparent()
    outer = parent.tail if parent is not None and parent.tag in INLINE else ""
    return element.tail or outer or ""
