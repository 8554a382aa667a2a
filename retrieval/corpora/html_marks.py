"""The raised, lowered and struck text of a page, so that its numbers keep their value in one line."""

import re

from lxml.html import HtmlElement

from retrieval.corpora.raised import is_mark, write_lowered, write_raised

_STRUCK = ("del", "s", "strike")
_LOUD = ("b", "em", "i", "mark", "small", "strong", "u")
_INLINE = frozenset(("a", "abbr", "bdi", "cite", "code", "font", "ins", "q", "span", "sub", "sup", "var", *_LOUD))
_SAYS_NOTE = re.compile(r"note[-_]?ref|footnote|endnote|\bfn(?:ref)?\b|\breference\b|cite[-_]?ref", re.IGNORECASE)
_STATED = re.compile(
    r"(?:^|[;\s])(?:vertical-align\s*:\s*(super|sub)|text-decoration(?:-line)?\s*:[^;]*(line-through))", re.IGNORECASE
)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_CLASS = re.compile(r"\.([\w-]+)$")
_TAGS = {"super": "sup", "sub": "sub", "line-through": "s"}
_CONTEXT = 80


def write_marks(page: HtmlElement) -> None:
    """Drop struck text and the marks of notes, and write powers with "^". What begins a block stays: it is a note's number."""
    classes = _read_classes(page)
    for element in page.xpath("//*[@style or @class]"):
        stated = _find_tag(element.get("style", "")) or next(filter(None, map(classes.get, element.get("class", "").split())), "")
        if stated and element.tag in _INLINE:
            element.tag = stated
    for element in list(page.iter(*_STRUCK)):
        element.drop_tree()
    for element in list(page.iter("a", "sup", "sub")):
        if element.getparent() is not None:
            _write_mark(element)


def _read_classes(page: HtmlElement) -> dict[str, str]:
    """Return the classes that the page's own style sheets raise, lower or strike out, each with the tag that does so."""
    rules = [rule for sheet in page.iter("style") for rule in _RULE.findall(sheet.text or "")]
    stated = [(selectors, tag) for selectors, said in rules if (tag := _find_tag(said))]
    return {
        found.group(1): tag for selectors, tag in stated for one in selectors.split(",") if (found := _CLASS.search(one.strip()))
    }


def _find_tag(style: str) -> str:
    found = _STATED.search(style)
    return _TAGS[(found.group(1) or found.group(2)).lower()] if found else ""


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
    around = [outer for outer in element.iterancestors(*_INLINE) if outer.text_content() == said]
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
            if sibling.tag not in _INLINE or len(text) >= _CONTEXT:
                return text
            text = f"{sibling.text_content()}{text}"
        parent = at.getparent()
        if parent is None:
            return text
        text, at = f"{parent.text or ''}{text}", parent
        if parent.tag not in _INLINE:
            return text
    return text


def _text_after(element: HtmlElement) -> str:
    parent = element.getparent()
    outer = parent.tail if parent is not None and parent.tag in _INLINE else ""
    return element.tail or outer or ""
