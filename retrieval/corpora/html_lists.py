"""The numbers of a page's numbered lists, written into their items: other places point to them."""

import re
from collections.abc import Mapping, Set

from lxml.html import HtmlElement

from retrieval.corpora.list_numbers import write_number

_FORMS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_OWN_NUMBER = re.compile(r"\W*(\w+)\b")
_BULLET = re.compile(r"^[ \t]*- (?=[\ufdd0-\ufddf]*\w+\. )", re.MULTILINE)


def number_items(page: HtmlElement, markings: Mapping[HtmlElement, Set[str]]) -> None:
    """Write the number that a browser shows before each item of a numbered list, unless the item's text has it.

    `markings` are the styles that elements have (`hidden`).
    """
    for numbered in page.iter("ol"):
        if "list-style-type: none" in markings.get(numbered, ()) or next(numbered.iterancestors("nav"), None) is not None:
            continue
        items = list(numbered.iterchildren("li"))
        backward = "reversed" in numbered.attrib
        number = _read_number(numbered.get("start"), len(items) if backward else 1)
        for item in items:
            number = _read_number(item.get("value"), number)
            _write_number(item, write_number(number, _FORMS.get(numbered.get("type", ""), "decimal")))
            number += -1 if backward else 1


def drop_bullets(text: str) -> str:
    """Drop the bullets that the extraction puts before numbered items."""
    return _BULLET.sub("", text)


def find_first_text(element: HtmlElement) -> HtmlElement:
    """Return the block in which the text of an element begins: itself, or its first paragraph."""
    while not (element.text or "").strip() and len(element) and element[0].tag in ("p", "div", "section"):
        element = element[0]
    return element


def _read_number(stated: str | None, else_number: int) -> int:
    return int(stated) if stated and re.fullmatch(r"-?\d{1,9}", stated.strip()) else else_number


def _write_number(item: HtmlElement, number: str) -> None:
    own = _OWN_NUMBER.match(str(item.text_content()))
    if own is None or own.group(1) == number:
        return
    place = find_first_text(item)
    place.text = f"{number}. {(place.text or '').lstrip()}"
