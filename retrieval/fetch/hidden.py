"""The removal of the parts of a page that its readers do not see. Their text is returned for the search for instructions."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lxml.etree import iterwalk
from lxml.html import HtmlElement

from retrieval.fetch.styles.boxes import Box, Room, enter_room, is_box_hidden
from retrieval.fetch.styles.colours import BLACK
from retrieval.fetch.styles.counted_element import CountedElement
from retrieval.fetch.styles.lettering import Lettering, find_lettering
from retrieval.fetch.styles.page_style import PageStyle, Stated
from retrieval.fetch.styles.properties import list_markings

MAX_CHARS = 20_000
CUT_NOTE = "the page has more styles than are read: some of its text may be invisible to people"
_NEVER_SHOWN = ("template", "noscript", "noframes", "noembed", "datalist", "audio", "video", "meter", "progress", "rp")
_SPOKEN = ("alt", "title", "aria-label", "placeholder", "content", "data-prompt", "data-instructions", "summary")
_CODE = ("script", "style")
_WHOLE = ("html", "body", "head")


class HiddenText(NamedTuple):
    """The text that was removed, and what a reader must know of the rest: empty where all styles were read.

    `markings` are what the styles say of elements that raise, strike or number their text.
    """

    text: str
    markings: Mapping[HtmlElement, frozenset[str]]
    note: str = ""


class _Around(NamedTuple):
    """What an element passes on to those in it."""

    element: CountedElement | None
    variables: Stated
    letters: Lettering
    room: Room
    latest: list[CountedElement]


def take_hidden(page: HtmlElement) -> HiddenText:
    """Remove invisible elements, texts and comments from the page, and return their text, up to 20,000 characters.

    Of the style sheets, only those in the page are known.
    """
    style = PageStyle(page)
    hidden = [*_take_comments(page), *_read_attributes(page)]
    walk = _Walk(page, style)
    hidden += walk.take_illegible()
    for element in walk.invisible:
        hidden.append(" ".join(str(element.text_content()).split()))
        if element.getparent() is not None:
            element.drop_tree()
    text = "\n".join(text for text in dict.fromkeys(hidden) if text)[:MAX_CHARS]
    return HiddenText(text, walk.markings, "" if style.complete else CUT_NOTE)


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


class _Walk:
    """A walk through the page that finds the `invisible` elements, and takes the text that nobody can read out of the others."""

    def __init__(self, page: HtmlElement, style: PageStyle) -> None:
        self.invisible: list[HtmlElement] = []
        self.markings: dict[HtmlElement, frozenset[str]] = {}
        self._page = page
        self._style = style
        colour = None if style.has_outside_sheets else BLACK
        self._around = [_Around(None, {}, Lettering(colour=colour), Room(), [])]

    def take_illegible(self) -> Iterator[str]:
        """Remove text in letters that nobody can read, and yield it. What stands within it in other letters stays."""
        taken, walk = "", iterwalk(self._page, events=("start", "end"))
        for event, element in walk:
            if event == "start":
                self._enter(element)
                if self.invisible[-1:] == [element]:
                    walk.skip_subtree()
                elif not self._is_legible() and element.tag not in _CODE:
                    taken, element.text = taken + (element.text or ""), None
                continue
            self._around.pop()
            if not self._is_legible():
                taken, element.tail = taken + (element.tail or ""), None
            elif taken:
                yield " ".join(taken.split())
                taken = ""

    def _is_legible(self) -> bool:
        return self._around[-1].letters.is_legible()

    def _enter(self, element: HtmlElement) -> None:
        """Go into an element. What it states holds in it; one that shows nothing is noted."""
        around = self._around[-1]
        before = around.latest[-1] if around.latest else None
        counted = CountedElement(element, around.element, before.index + 1 if before else 0, before)
        around.latest[:] = [counted]
        stated, variables = self._style.read(counted, around.variables)
        letters = find_lettering(around.letters, element.tag, stated)
        if marked := list_markings(stated):
            self.markings[element] = marked
        room = around.room
        if element.tag not in ("html", "head"):
            box = Box(element.tag, stated, room, letters, _count_letters(element) if stated else 0, len(element) > 0)
            room = enter_room(box)
            if element.tag in _NEVER_SHOWN or (element.tag not in _WHOLE and stated and is_box_hidden(box)):
                self.invisible.append(element)
        self._around.append(_Around(counted, variables, letters, room, []))


def _count_letters(element: HtmlElement) -> int:
    return len(" ".join(str(element.text_content()).split()))
