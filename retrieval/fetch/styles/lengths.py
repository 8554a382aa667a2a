"""Lengths and numbers of styles in pixels, with the arithmetic of `calc`, `min`, `max` and `clamp`."""

from collections.abc import Sequence
from typing import NamedTuple

from tinycss2.ast import Node

from retrieval.fetch.styles.media import EM, HEIGHT, WIDTH, split_at_commas

_UNITS = {
    "px": 1.0,
    "pt": 4 / 3,
    "pc": 16.0,
    "in": 96.0,
    "cm": 96 / 2.54,
    "mm": 9.6 / 2.54,
    "q": 2.4 / 2.54,
    "rem": EM,
    "rlh": EM * 1.2,
    **{f"{kind}{side}": part / 100 for kind in ("", "s", "l", "d") for side, part in (("vw", WIDTH), ("vh", HEIGHT))},
    **{f"{kind}{side}": part / 100 for kind in ("", "s", "l", "d") for side, part in (("vi", WIDTH), ("vb", HEIGHT))},
    **{f"{kind}{side}": part / 100 for kind in ("", "s", "l", "d") for side, part in (("vmax", WIDTH), ("vmin", HEIGHT))},
}
_OF_LETTERS = {"em": 1.0, "ex": 0.5, "ch": 0.5, "cap": 0.7, "ic": 1.0, "lh": 1.2}
MAX_DEPTH = 16


class Basis(NamedTuple):
    """What relative lengths refer to, in pixels: the size of letters, and what is 100%."""

    letters: float = EM
    whole: float = WIDTH


USUAL = Basis()


def measure(tokens: Sequence[Node], basis: Basis = USUAL, depth: int = 0) -> float | None:
    """Return the value of one length, percentage or number in pixels; None for anything else, such as `auto`."""
    words = [token for token in tokens if token.type not in ("whitespace", "comment")]
    if len(words) != 1:
        return None
    token = words[0]
    if token.type == "number":
        return float(token.value)
    if token.type == "percentage":
        return float(token.value) / 100 * basis.whole
    if token.type == "dimension":
        unit = token.lower_unit
        factor = _OF_LETTERS[unit] * basis.letters if unit in _OF_LETTERS else _UNITS.get(unit)
        return None if factor is None else float(token.value) * factor
    if token.type == "function" and depth < MAX_DEPTH:
        return _work_out(token.lower_name, token.arguments, basis, depth + 1)
    return _add_up(token.content, basis, depth + 1) if token.type == "() block" and depth < MAX_DEPTH else None


def _work_out(name: str, arguments: Sequence[Node], basis: Basis, depth: int) -> float | None:
    values = [_add_up(part, basis, depth) for part in split_at_commas(arguments)]
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    if name == "clamp" and len(known) == 3:
        return max(known[0], min(known[1], known[2]))
    return {"calc": known[0], "min": min(known), "max": max(known), "abs": abs(known[0])}.get(name)


def _add_up(tokens: Sequence[Node], basis: Basis, depth: int) -> float | None:
    """Return a sum of products. Signs of sums stand between spaces, as the language asks."""
    words = [token for token in tokens if token.type not in ("whitespace", "comment")]
    total, product, sign, divides = 0.0, None, 1.0, False
    for token in words:
        mark = token.value if token.type == "literal" else ""
        if mark in ("+", "-"):
            total, product, sign = total + sign * (product or 0.0), None, -1.0 if mark == "-" else 1.0
        elif mark in ("*", "/"):
            divides = mark == "/"
        else:
            value = measure([token], basis, depth)
            if value is None:
                return None
            product = value if product is None else product / (value or 1.0) if divides else product * value
    return None if product is None else total + sign * product
