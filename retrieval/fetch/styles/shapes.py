"""Shapes and transforms that leave nothing of a box."""

import math
from collections.abc import Sequence

from tinycss2.ast import Node

from retrieval.fetch.styles.lengths import Basis, measure
from retrieval.fetch.styles.lettering import FAINT
from retrieval.fetch.styles.media import split_at_commas


def is_empty_shape(shape: Node, across: Basis, height: float) -> bool:
    """Say whether a shape leaves nothing of a box. `across` has the box's width; its height is in pixels."""
    name, down = shape.lower_name, across._replace(whole=height)
    words = [token for token in shape.arguments if token.type not in ("whitespace", "comment") and token.type != "literal"]
    before = [token for place, token in enumerate(words) if not any(_is_word(word, "at", "round") for word in words[: place + 1])]
    wide = [measure([token], across) for token in before]
    high = [measure([token], down) for token in before]
    if name == "inset" and wide and None not in wide:
        sides, ends = _four(wide), _four(high)
        return sides[1] + sides[3] >= across.whole or ends[0] + ends[2] >= down.whole
    if name in ("circle", "ellipse"):
        return any(radius is not None and radius <= 1 for radius in wide)
    if name == "rect" and len(wide) == 4:
        return _is_flat(wide[3], wide[1]) or _is_flat(high[0], high[2])
    if name == "xywh" and len(wide) >= 4:
        return _is_flat(0.0, wide[2]) or _is_flat(0.0, high[3])
    if name == "polygon":
        return _measure_area(shape.arguments, across, down) <= 4
    return name == "path" and all(
        sum(character.isdigit() for character in token.value) < 6 for token in words if token.type == "string"
    )


def _four(sides: Sequence[float | None]) -> list[float]:
    known = [side or 0.0 for side in sides]
    return (known * 4)[:4] if len(known) == 1 else (known * 2)[:4] if len(known) == 2 else [*known, known[1]][:4]


def _is_flat(start: float | None, end: float | None) -> bool:
    return start is not None and end is not None and end - start <= 1


def _measure_area(arguments: Sequence[Node], across: Basis, down: Basis) -> float:
    points = []
    for part in split_at_commas(arguments):
        pair = [token for token in part if token.type != "whitespace"]
        if len(pair) == 2:
            points.append((measure(pair[:1], across) or 0.0, measure(pair[1:], down) or 0.0))
    turned = zip(points, [*points[1:], *points[:1]], strict=True)
    return abs(sum(x * b - a * y for (x, y), (a, b) in turned)) / 2


def _is_word(token: Node, *words: str) -> bool:
    return bool(token.type == "ident" and token.lower_value in words)


def has_no_area(function: Node) -> bool:
    """Say whether a transform leaves no width or no height."""
    numbers = [measure(part, Basis(whole=1.0)) or 0.0 for part in split_at_commas(function.arguments)]
    name = function.lower_name
    if name in ("scale", "scalex", "scaley", "scale3d"):
        return any(abs(number) < FAINT for number in numbers)
    if name == "matrix" and len(numbers) == 6:
        return abs(numbers[0] * numbers[3] - numbers[1] * numbers[2]) < FAINT**2
    if name == "matrix3d" and len(numbers) == 16:
        return abs(numbers[0] * numbers[5] - numbers[1] * numbers[4]) < FAINT**2
    return name in ("rotatex", "rotatey") and abs(math.cos(_read_angle(function.arguments))) < FAINT


def _read_angle(arguments: Sequence[Node]) -> float:
    turn = {"deg": math.tau / 360, "grad": math.tau / 400, "rad": 1.0, "turn": math.tau}
    return sum(float(token.value) * turn.get(token.lower_unit, 0.0) for token in arguments if token.type == "dimension")
