"""The blocks of a page of HTML. Text beside one is a paragraph to a reader; extraction loses it or joins it to the block."""

from collections.abc import Iterator

from lxml.html import Element, HtmlElement

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_HOLDERS = (
    "article",
    "aside",
    "blockquote",
    "body",
    "details",
    "div",
    "fieldset",
    "figure",
    "footer",
    "form",
    "header",
    "main",
    "section",
)
"""Blocks that may hold other blocks and text side by side."""
_BLOCKS = (*_HEADINGS, *_HOLDERS, *("address", "dl", "figcaption", "hr", "nav", "ol", "p", "pre", "summary", "table", "ul"))


def wrap_loose_text(page: HtmlElement) -> None:
    """Make a paragraph of each stretch of text that stands beside a block without a block of its own, but not in code.

    The plain blocks beside it become paragraphs too: the extraction keeps no other text beside a paragraph.
    """
    code = {element for block in page.iter("pre") for element in block.iter()}
    for parent in dict.fromkeys(block.getparent() for block in page.iter(*_BLOCKS)):
        if parent is None or parent.tag not in _HOLDERS or parent in code:
            continue
        loose = [(before, run) for before, run in _list_runs(parent) if _has_text(parent, before, run)]
        for before, run in loose:
            _wrap_run(parent, before, run)
        for block in parent.iterchildren("div") if loose else ():
            if next(block.iterdescendants(*_BLOCKS), None) is None:
                block.tag = "p"


def _list_runs(parent: HtmlElement) -> Iterator[tuple[HtmlElement | None, list[HtmlElement]]]:
    """Yield the stretches between blocks: the block before each (None: it is the first), and its elements."""
    before: HtmlElement | None = None
    run: list[HtmlElement] = []
    for child in parent:
        if child.tag in _BLOCKS:
            yield before, run
            before, run = child, []
        else:
            run.append(child)
    yield before, run


def _has_text(parent: HtmlElement, before: HtmlElement | None, run: list[HtmlElement]) -> bool:
    """Say whether a stretch has words outside its elements: links alone are no text."""
    return any((said or "").strip() for said in (parent.text if before is None else before.tail, *(e.tail for e in run)))


def _wrap_run(parent: HtmlElement, before: HtmlElement | None, run: list[HtmlElement]) -> None:
    paragraph = Element("p")
    if before is None:
        paragraph.text, parent.text = parent.text, None
        parent.insert(0, paragraph)
    else:
        paragraph.text, before.tail = before.tail, None
        before.addnext(paragraph)
    paragraph.extend(run)
