"""An element for the matching of selectors that pays for each step to its relatives, so that no sheet costs without limit."""

from collections.abc import Iterator
from typing import Self

from cssselect2 import ElementWrapper
from lxml.html import HtmlElement

MAX_STEPS = 4_000_000
"""The tests of selectors on elements that a page may cost: a few seconds."""
SLICED = 16
"""So many siblings are compared in the time of a step."""


class Exhausted(Exception):
    """The page has cost all steps that it may."""


class Steps:
    """The steps that are left to a page."""

    def __init__(self) -> None:
        self.left = MAX_STEPS

    def take(self, count: int) -> None:
        """Pay for some steps. Raises `Exhausted` where there are not as many."""
        self.left -= count
        if self.left < 0:
            raise Exhausted


class CountedElement(ElementWrapper):  # type: ignore[misc]
    """An element whose relatives are paid for."""

    def __init__(
        self,
        etree_element: HtmlElement,
        parent: Self | None = None,
        index: int = 0,
        previous: Self | None = None,
        in_html_document: bool = True,
        content_language: str | None = None,
    ) -> None:
        self.steps: Steps = parent.steps if parent is not None else Steps()
        super().__init__(etree_element, parent, index, previous, in_html_document, content_language)

    @property
    def etree_siblings(self) -> list[HtmlElement]:
        """The children of the parent."""
        siblings: list[HtmlElement] = self.parent.etree_children if self.parent is not None else [self.etree_element]
        self.steps.take(1 + len(siblings) // SLICED)
        return siblings

    @etree_siblings.setter
    def etree_siblings(self, _: list[HtmlElement]) -> None:
        """Take no copy: the parent knows them."""

    @property
    def ancestors(self) -> Iterator[Self]:
        """The elements around this one, from the nearest."""
        above: Self | None = self.parent
        while above is not None:
            self.steps.take(1)
            yield above
            above = above.parent

    @property
    def previous_siblings(self) -> Iterator[Self]:
        """The elements before this one, from the nearest."""
        before: Self | None = self.previous
        while before is not None:
            self.steps.take(1)
            yield before
            before = before.previous

    def iter_children(self) -> Iterator[Self]:
        """Yield the children."""
        for child in super().iter_children():
            self.steps.take(1)
            yield child
