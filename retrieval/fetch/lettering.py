"""The look of the text in an element: whether its size and its colour on its ground let a reader see it."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from lxml.html import HtmlElement

from retrieval.fetch.style_rules import EM

SMALLEST = 2.0
"""The least size of letters, in pixels, that somebody may read."""
_NAMED_WHITES = ("white", "snow", "ivory", "ghostwhite", "hsl(0,0%,100%)")
_WHITES = frozenset((*_NAMED_WHITES, "#fff", "#ffffff", "#fefefe", "#fdfdfd", "rgb(255,255,255)", "rgba(255,255,255,1)"))
_CLEAR = re.compile(
    r"transparent|#(?:[\da-f]{3}0|[\da-f]{6}00)|(?:rgb|hsl)a?\((?:[^,/]+,[^,/]+,[^,/]+,|[^/]+/)0*\.?0*%?\)", re.IGNORECASE
)
_COLOUR = re.compile(r"#[\da-f]+|(?:rgb|hsl|hwb|lab|lch|oklab|oklch|color|color-mix|light-dark|var)a?\(.*\)|[a-z]{3,}", re.DOTALL)
_TOKEN = re.compile(r"[\w-]+\((?:[^()]|\([^()]*\))*\)|[^\s,/]+")
_NO_COLOURS = frozenset(
    ("none", "repeat", "scroll", "fixed", "local", "left", "right", "top", "bottom", "center", "cover", "contain")
)
_INHERITED = ("", "inherit", "currentcolor", "unset", "revert", "revert-layer")
_SIZE = re.compile(r"([\d.]+)(px|pt|r?em|%)?")
_PIXELS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "rem": EM}
_IMAGE = "an image"


class Lettering(NamedTuple):
    """The look of a text. An empty colour is the usual one, the usual ground is white, and the size is in pixels."""

    colour: str = ""
    ground: str = "white"
    size: float = EM

    def is_legible(self) -> bool:
        """Say whether a reader sees the text."""
        lost = self.colour == self.ground != _IMAGE or (self.colour in _WHITES and self.ground in _WHITES)
        return self.size >= SMALLEST and not lost and not _CLEAR.fullmatch(self.colour)


def find_lettering(outer: Lettering, element: HtmlElement, stated: Mapping[str, str]) -> Lettering:
    """Return the lettering in an element from that around it. The whole page states a ground only."""
    ground = _find_ground(outer.ground, element, stated)
    if element.tag in ("html", "body"):
        return outer._replace(ground=ground)
    colour, size = _find_colour(outer.colour, stated), _find_size(outer.size, stated.get("font-size", ""))
    if stated.get("background-clip") == "text" and _CLEAR.fullmatch(colour):  # the ground shows through the letters
        return Lettering(ground, outer.ground, size)
    return Lettering(colour, ground, size)


def _find_ground(outer: str, element: HtmlElement, stated: Mapping[str, str]) -> str:
    image = stated.get("background-image", "none")
    if element.get("background") or image not in ("none", "initial", *_INHERITED):
        return _IMAGE
    value = stated.get("background-color") or (element.get("bgcolor") or "").lower()
    colours = (token for token in _TOKEN.findall(value) if _COLOUR.fullmatch(token) and token not in _NO_COLOURS)
    colour = _normalise_colour(next(colours, ""))
    return outer if colour in ("initial", *_INHERITED) or _CLEAR.fullmatch(colour) else colour


def _find_colour(outer: str, stated: Mapping[str, str]) -> str:
    value = stated.get("color", "")
    if value in _INHERITED:
        return outer
    return "" if value == "initial" else _normalise_colour(value)


def _find_size(outer: float, value: str) -> float:
    if value in (*_INHERITED, "smaller", "larger"):
        return outer
    found = _SIZE.fullmatch(value)
    if found is None:  # a word, a variable, or a share of the window
        return EM if value.strip("0.") else 0.0
    number, unit = float(found.group(1)), found.group(2) or ""
    share = {"em": outer, "%": outer / 100}.get(unit)
    return number * (_PIXELS[unit] if share is None else share)


def _normalise_colour(colour: str) -> str:
    return re.sub(r"\s*([,/()])\s*|\s+", lambda found: found.group(1) or ",", colour)
