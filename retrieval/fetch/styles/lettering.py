"""The look of the text in an element: what it inherits, its size, and its colour on its ground."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from retrieval.fetch.styles.colours import BLACK, WHITE, Colour, is_colour, read_colour
from retrieval.fetch.styles.lengths import Basis, measure
from retrieval.fetch.styles.media import EM
from retrieval.fetch.styles.properties import EVERYWHERE, Tokens

SMALLEST = 4.0
"""The least size of letters, in pixels, that somebody may read."""
TIGHTEST = -0.4
"""The least distance between letters, in their size, at which words are still words."""
FAINT = 0.05
_SIZES = {
    "xx-small": 9.0,
    "x-small": 10.0,
    "small": 13.0,
    "medium": EM,
    "large": 18.0,
    "x-large": 24.0,
    "xx-large": 32.0,
    "xxx-large": 48.0,
}
_KEPT = EVERYWHERE - {"initial"}
_WHOLE = ("html", "body")
_COLOURED = ("color", "-webkit-text-fill-color", "background-color", "background-image", "background-clip", "text-shadow")
_LETTERING = frozenset((*_COLOURED, "font-size", "letter-spacing", "line-height", "visibility", "opacity", "filter"))

Stated = Mapping[str, Tokens]


class Lettering(NamedTuple):
    """The look of a text. A colour or a ground of None is unknown: the page does not say, or it is an image. Sizes are pixels."""

    colour: Colour | None = None
    fill: Colour | None = None
    ground: Colour | None = WHITE
    size: float = EM
    spacing: float = 0.0
    line: float | None = None
    visible: bool = True
    opacity: float = 1.0
    shadows: tuple[Colour, ...] = ()

    def is_legible(self) -> bool:
        """Say whether a reader sees the text."""
        if not self.visible or self.size < SMALLEST or self.spacing < TIGHTEST * self.size:
            return False
        letters = self.fill or self.colour
        return self.ground is None or letters is None or any(self._is_seen(colour) for colour in (letters, *self.shadows))

    def _is_seen(self, colour: Colour) -> bool:
        assert self.ground is not None
        return colour._replace(alpha=colour.alpha * self.opacity).differs(self.ground)


def find_lettering(outer: Lettering, tag: str, stated: Stated) -> Lettering:
    """Return the lettering in an element from that around it."""
    if _LETTERING.isdisjoint(stated):
        return outer
    size = _find_size(outer.size, stated.get("font-size", ()))
    colour = _find_colour(outer.colour, stated, "color", BLACK)
    fill = _find_colour(outer.fill, stated, "-webkit-text-fill-color", None, colour)
    ground = _find_ground(outer.ground, stated, colour)
    own = Lettering(
        colour=colour,
        fill=fill,
        ground=ground,
        size=size,
        spacing=_find_length(outer.spacing, stated, "letter-spacing", size),
        line=_find_line(outer.line, stated.get("line-height", ()), size),
        visible=_is_visible(outer.visible, word_of(stated, "visibility")),
        opacity=outer.opacity * find_opacity(stated),
        shadows=_find_shadows(outer.shadows, stated.get("text-shadow", ()), colour),
    )
    if word_of(stated, "background-clip") == "text" and (fill or colour or BLACK).alpha < 1:
        return own._replace(fill=None, colour=ground, ground=outer.ground)  # the ground shows through the letters
    if tag in _WHOLE and not own.is_legible():
        return own._replace(colour=None, fill=None, visible=True, opacity=1.0, size=max(size, EM))
    return own


def word_of(stated: Stated, name: str) -> str:
    """Return the value of a property that is one word; empty where it is none."""
    value = stated.get(name, ())
    return str(value[0].lower_value) if value and value[0].type == "ident" else ""


def find_opacity(stated: Stated) -> float:
    """Return the opacity that an element states, by itself or as a filter."""
    shown = measure(stated.get("opacity", ()), Basis(whole=1.0))
    filters = [
        token.arguments for token in stated.get("filter", ()) if token.type == "function" and token.lower_name == "opacity"
    ]
    for arguments in filters:
        part = measure(arguments, Basis(whole=1.0))
        shown = (1.0 if shown is None else shown) * (1.0 if part is None else part)
    return 1.0 if shown is None else min(1.0, max(0.0, shown))


def _is_visible(outer: bool, word: str) -> bool:
    return outer if not word or word in _KEPT else word in ("visible", "initial")


def _find_size(outer: float, value: Tokens) -> float:
    if value and value[0].type == "ident":
        word = value[0].lower_value
        steps = {"smaller": outer / 1.2, "larger": outer * 1.2, "initial": EM}
        return _SIZES.get(word, steps.get(word, outer))
    found = measure(value, Basis(outer, outer))
    return outer if found is None else found


def _find_length(outer: float, stated: Stated, name: str, size: float) -> float:
    if word_of(stated, name) in ("normal", "initial"):
        return 0.0
    found = measure(stated.get(name, ()), Basis(size, size))
    return outer if found is None else found


def _find_line(outer: float | None, value: Tokens, size: float) -> float | None:
    if value and value[0].type == "ident":
        return outer if value[0].lower_value in _KEPT else None
    found = measure(value, Basis(size, size))
    if found is None:
        return outer
    return found * size if value[0].type == "number" else found


def _find_colour(
    outer: Colour | None, stated: Stated, name: str, initial: Colour | None, current: Colour | None = None
) -> Colour | None:
    value = stated.get(name, ())
    word = word_of(stated, name)
    if not value or word in _KEPT:
        return outer
    if word == "initial":
        return initial
    if word == "currentcolor":
        return outer if name == "color" else current
    return read_colour(value[0], outer)


def _find_ground(outer: Colour | None, stated: Stated, colour: Colour | None) -> Colour | None:
    """Return what is behind the letters; None where it is an image, or a colour that is not known."""
    own = stated.get("background-color", ())
    ground = outer
    if own and word_of(stated, "background-color") not in EVERYWHERE:
        stood = read_colour(own[0], colour)
        if stood is None or (stood.alpha < 1 and stood.alpha and outer is None):
            ground = None
        elif stood.alpha:
            ground = stood.lay_over(outer or WHITE)
    image = stated.get("background-image", ())
    if not image or image[0].type == "ident":
        return ground
    stops = list_stops(image, colour)
    plain = stops is not None and len(set(stops)) == 1 and ground is not None
    return stops[0].lay_over(ground) if plain and stops and ground else None


def list_stops(image: Tokens, current: Colour | None) -> Sequence[Colour] | None:
    """Return the colours of a gradient; None for another image, or where one is not known."""
    if any(token.type != "function" or not token.lower_name.endswith("gradient") for token in image):
        return None
    colours = [read_colour(token, current) for gradient in image for token in gradient.arguments if is_colour(token)]
    known = [colour for colour in colours if colour is not None]
    return known if known and len(known) == len(colours) else None


def _find_shadows(outer: tuple[Colour, ...], value: Tokens, colour: Colour | None) -> tuple[Colour, ...]:
    if not value or (value[0].type == "ident" and value[0].lower_value in _KEPT):
        return outer
    if value[0].type == "ident" and value[0].lower_value in ("none", "initial"):
        return ()
    found = [read_colour(token, colour) for token in value if is_colour(token)]
    return tuple(each or BLACK for each in found) or ((colour or BLACK),)
