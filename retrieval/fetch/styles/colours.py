"""Colours of styles as a browser shows them: red, green and blue from 0 to 1, with their opacity."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tinycss2.ast import Node
from tinycss2.color4 import D50
from tinycss2.color5 import parse_color

from retrieval.fetch.styles.media import split_at_commas

_TO_RED_GREEN_BLUE = ((3.2406, -1.5372, -0.4986), (-0.9689, 1.8758, 0.0415), (0.0557, -0.2040, 1.0570))
_LINEAR, _GAMMA = 0.0031308, 2.4
_WHITES = ((0.9505, 1.0, 1.089), D50)
SEEN = 24 / 255
"""Letters of less difference from their ground, in each of red, green and blue, are not seen."""


class Colour(NamedTuple):
    """A colour, not multiplied with its opacity."""

    red: float
    green: float
    blue: float
    alpha: float = 1.0

    def lay_over(self, ground: "Colour") -> "Colour":
        """Return the colour that is seen where this one covers an opaque ground."""
        return Colour(*(own * self.alpha + below * (1 - self.alpha) for own, below in zip(self[:3], ground[:3], strict=True)))

    def differs(self, ground: "Colour") -> bool:
        """Say whether letters of this colour are seen on an opaque ground."""
        return max(abs(a - b) for a, b in zip(self.lay_over(ground)[:3], ground[:3], strict=True)) >= SEEN


WHITE, BLACK, CLEAR = Colour(1.0, 1.0, 1.0), Colour(0.0, 0.0, 0.0), Colour(0.0, 0.0, 0.0, 0.0)
_SYSTEM = {
    **dict.fromkeys(("canvas", "field", "buttonface", "window"), WHITE),
    **dict.fromkeys(("canvastext", "fieldtext", "buttontext", "windowtext"), BLACK),
}


def read_colour(token: Node, current: Colour | None = None) -> Colour | None:
    """Return the colour of a token, `current` for `currentcolor`; None where it is none, or one that is computed from others."""
    name = token.lower_value if token.type == "ident" else token.lower_name if token.type == "function" else ""
    if name == "currentcolor":
        return current
    if name in _SYSTEM:
        return _SYSTEM[name]
    if name == "color-mix":
        return _mix(list(split_at_commas(token.arguments))[1:], current)
    found = parse_color(token)
    if found is None or isinstance(found, str):
        return CLEAR if _ends_with_nothing(token) else None
    alpha = min(1.0, max(0.0, found.alpha or 0.0))
    if found.space in ("srgb", "hsl", "hwb"):
        return _make_colour(found.to("srgb").coordinates, alpha)
    if found.space in ("lab", "lch"):
        return _make_colour(_from_xyz(found.to("xyz-d50").coordinates, 1), alpha)
    if found.space in ("oklab", "oklch"):
        return _make_colour(_from_xyz(found.to("xyz-d65").coordinates, 0), alpha)
    return _make_colour([part or 0.0 for part in found.coordinates], alpha)


def _make_colour(parts: Iterable[float], alpha: float) -> Colour:
    red, green, blue = parts
    return Colour(red, green, blue, alpha)


def is_colour(token: Node) -> bool:
    """Say whether a token may be a colour, known or not."""
    if token.type == "function":
        return token.lower_name in (
            "color-mix",
            "light-dark",
            "rgb",
            "rgba",
            "hsl",
            "hsla",
            "color",
            "lab",
            "lch",
            "oklab",
            "oklch",
            "hwb",
        )
    return read_colour(token, BLACK) is not None


def _ends_with_nothing(token: Node) -> bool:
    """Say whether a colour that is computed from another states no opacity."""
    words = [each for each in token.arguments if each.type != "whitespace"] if token.type == "function" else []
    slash = [each.type == "literal" and each.value == "/" for each in words]
    return slash[-2:-1] == [True] and words[-1].type in ("number", "percentage") and words[-1].value == 0


def _mix(parts: Sequence[Sequence[Node]], current: Colour | None) -> Colour | None:
    """Mix two colours by their shares, as sRGB does."""
    colours, shares = [], []
    for part in parts:
        words = [token for token in part if token.type != "whitespace"]
        colours.append(next((found for token in words if (found := read_colour(token, current))), None))
        shares.append(next((token.value / 100 for token in words if token.type == "percentage"), None))
    if len(colours) != 2 or colours[0] is None or colours[1] is None:
        return None
    one, other = colours[0], colours[1]
    first = shares[0] if shares[0] is not None else 1 - shares[1] if shares[1] is not None else 0.5
    second = shares[1] if shares[1] is not None else 1 - first
    total = first + second or 1.0
    alpha = (one.alpha * first + other.alpha * second) / total
    mixed = ((a * one.alpha * first + b * other.alpha * second) / total for a, b in zip(one[:3], other[:3], strict=True))
    return _make_colour([part / (alpha or 1.0) for part in mixed], alpha * min(1.0, total))


def _from_xyz(xyz: Sequence[float], white: int) -> list[float]:
    """Return red, green and blue, with the white point of the space taken for the screen's."""
    scaled = [part / own * screen for part, own, screen in zip(xyz, _WHITES[white], _WHITES[0], strict=True)]
    linear = [sum(factor * part for factor, part in zip(row, scaled, strict=True)) for row in _TO_RED_GREEN_BLUE]
    return [
        12.92 * v if v <= _LINEAR else 1.055 * min(v, 1.0) ** (1 / _GAMMA) - 0.055 for v in (max(0.0, part) for part in linear)
    ]
