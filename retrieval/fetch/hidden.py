"""The removal of the parts of a page that its readers do not see. Their text is returned for the search for instructions."""

import re
from collections.abc import Iterator, Mapping

from lxml.etree import iterwalk
from lxml.html import HtmlElement

from retrieval.fetch.lettering import Lettering, find_lettering
from retrieval.fetch.page_style import PageStyle

MAX_CHARS = 20_000
_NEVER_SHOWN = ("template", "noscript", "datalist")
_SPOKEN = ("alt", "title", "aria-label", "placeholder", "content", "data-prompt", "data-instructions", "summary")
_CODE = ("script", "style")
_WHOLE = ("html", "body", "head")
_FAINT = 0.05
_FAR_OFF = -100
_FAR_MOVED = -999
"""Less may move a box to the middle, or over another."""
_PADDED = 10
_NO_AREA = re.compile(r"inset\(\s*(?:50|100)%|circle\(\s*0(?:px|%)?\s*(?:\)|at\b)|rect\((?:\s*[01](?:px)?\s*[,\s)]){4}")
_NO_SCALE = re.compile(r"scale(?:3d|x|y)?\(\s*0\s*[,)]")
_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(.*)")


def take_hidden(page: HtmlElement) -> str:
    """Remove invisible elements, texts and comments from the page, and return their text, up to 20,000 characters.

    Of the style sheets, only the rules in the page are known.
    """
    style = PageStyle(page)
    hidden = [*_take_comments(page), *_read_attributes(page)]
    for element in list(_find_invisible(page, style)):
        hidden.append(" ".join(str(element.text_content()).split()))
        if element.getparent() is not None:
            element.drop_tree()
    hidden += _take_illegible(page, style)
    return "\n".join(text for text in dict.fromkeys(hidden) if text)[:MAX_CHARS]


def _take_comments(page: HtmlElement) -> Iterator[str]:
    for comment in list(page.xpath("//comment() | //processing-instruction()")):
        yield " ".join((comment.text or "").split())
        comment.drop_tree()


def _read_attributes(page: HtmlElement) -> Iterator[str]:
    """Yield the words of attributes that only machines and screen readers read."""
    for name in _SPOKEN:
        for value in page.xpath(f"//@{name}"):
            if len(value) > 20:
                yield " ".join(value.split())


def _find_invisible(page: HtmlElement, style: PageStyle) -> Iterator[HtmlElement]:
    for element in page.iter():
        if not isinstance(element.tag, str) or element.tag in _WHOLE:
            continue
        if element.tag in _NEVER_SHOWN or element.get("hidden") is not None or _is_invisible(element, style):
            yield element


def _is_invisible(element: HtmlElement, style: PageStyle) -> bool:
    stated = style.find(element)
    return bool(stated) and (
        stated.get("display") == "none"
        or stated.get("visibility") in ("hidden", "collapse")
        or stated.get("content-visibility") == "hidden"
        or _read_number(stated, "opacity", 1.0) < _FAINT
        or any(_NO_AREA.search(stated.get(name, "")) for name in ("clip", "clip-path"))
        or _NO_SCALE.search(stated.get("transform", "")) is not None
        or _is_off_screen(stated)
        or _is_collapsed(element, style)
    )


def _is_off_screen(stated: Mapping[str, str]) -> bool:
    far = _FAR_MOVED if stated.get("position") == "relative" else _FAR_OFF
    placed = any(_read_number(stated, name) <= far for name in ("left", "top", "right"))
    moved = any(_read_number(stated, name) <= _FAR_MOVED for name in ("margin-left", "margin-top"))
    return placed or moved or _read_number(stated, "text-indent") <= _FAR_OFF


def _is_collapsed(element: HtmlElement, style: PageStyle) -> bool:
    """Say whether the element's box has no width or no height, and cuts off its text. The cells of a table fit their text."""
    stated = style.find(element)
    sides = [side for side in ("width", "height") if _is_tiny(stated, side) and not _grows(element, style, side)]
    if not sides or element.tag in ("td", "th"):
        return False
    around = (outer for outer in (element, *element.iterancestors()) if outer.tag not in _WHOLE)
    return any(_cuts_off(style.find(outer)) for outer in around)


def _is_tiny(stated: Mapping[str, str], side: str) -> bool:
    if _read_number(stated, f"min-{side}") > 1:
        return False
    if side == "height" and max(_read_number(stated, "padding-top"), _read_number(stated, "padding-bottom")) >= _PADDED:
        return False
    found = filter(None, (_NUMBER.fullmatch(stated.get(name, "")) for name in (side, f"max-{side}")))
    return any(float(size.group(1)) <= (1 if size.group(2) in ("", "px") else 0) for size in found)


def _grows(element: HtmlElement, style: PageStyle, side: str) -> bool:
    """Say whether the element takes the room that its flexible parent has on this side, whatever size it states."""
    stated, parent = style.find(element), element.getparent()
    outer = style.find(parent) if parent is not None else {}
    along = "height" if "column" in outer.get("flex-direction", outer.get("flex-flow", "")) else "width"
    grows = re.match(r"auto|[1-9.]", stated.get("flex", stated.get("flex-grow", "")))
    return along == side and outer.get("display", "").endswith("flex") and f"max-{side}" not in stated and grows is not None


def _cuts_off(stated: Mapping[str, str]) -> bool:
    return any(stated.get(name, "visible") != "visible" for name in ("overflow", "overflow-x", "overflow-y"))


def _read_number(stated: Mapping[str, str], name: str, usual: float = 0.0) -> float:
    """Return the stated number, in its unit; percents of an opacity are shares."""
    found = _NUMBER.match(stated.get(name, ""))
    if found is None:
        return usual
    return float(found.group(1)) / (100 if name == "opacity" and "%" in found.group(2) else 1)


def _take_illegible(page: HtmlElement, style: PageStyle) -> Iterator[str]:
    """Remove text in letters that nobody can read, and yield it. What stands within it in other letters stays."""
    letterings, taken = [Lettering()], ""
    for event, element in iterwalk(page, events=("start", "end")):
        if event == "start":
            letterings.append(find_lettering(letterings[-1], element, style.find(element)))
            if not letterings[-1].is_legible() and element.tag not in _CODE:
                taken, element.text = taken + (element.text or ""), None
            continue
        letterings.pop()
        if not letterings[-1].is_legible():
            taken, element.tail = taken + (element.tail or ""), None
        elif taken:
            yield " ".join(taken.split())
            taken = ""
