"""Media queries, as a usual screen with a mouse answers them."""

import re
from collections.abc import Iterator, Sequence

import tinycss2
from tinycss2.ast import Node

WIDTH, HEIGHT = 1_280.0, 800.0
EM = 16.0
_NUMBERS = {
    "width": WIDTH,
    "height": HEIGHT,
    "device-width": WIDTH,
    "device-height": HEIGHT,
    "aspect-ratio": WIDTH / HEIGHT,
    "device-aspect-ratio": WIDTH / HEIGHT,
    "resolution": 1.0,
    "device-pixel-ratio": 1.0,
    "color": 8.0,
    "monochrome": 0.0,
    "grid": 0.0,
}
_WORDS = {
    "orientation": "landscape",
    "hover": "hover",
    "any-hover": "hover",
    "pointer": "fine",
    "any-pointer": "fine",
    "update": "fast",
    "scripting": "enabled",
    "prefers-color-scheme": "light",
    "prefers-contrast": "no-preference",
    "prefers-reduced-motion": "no-preference",
    "prefers-reduced-transparency": "no-preference",
    "prefers-reduced-data": "no-preference",
    "forced-colors": "none",
    "inverted-colors": "none",
    "color-gamut": "srgb",
    "dynamic-range": "standard",
    "display-mode": "browser",
    "overflow-block": "scroll",
    "overflow-inline": "scroll",
}
_NO = ("none", "no-preference")
_UNITS = {
    "px": 1.0,
    "em": EM,
    "rem": EM,
    "pt": 4 / 3,
    "cm": 96 / 2.54,
    "mm": 9.6 / 2.54,
    "in": 96.0,
    "dpi": 1 / 96,
    "dppx": 1.0,
    "x": 1.0,
}
_VALUE = re.compile(r"([\d.]+)\s*(?:/\s*([\d.]+)|([a-z]+))?")
_COMPARED = re.compile(r"([<>]=?|=)")
_OPPOSITE = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}
MAX_DEPTH = 16


def fits_screen(query: Sequence[Node]) -> bool:
    """Say whether a list of media queries, as tokens, holds on the screen. An empty list does."""
    queries = list(split_at_commas(query))
    return not any(queries) or any(_holds(part) for part in queries if part)


def split_at_commas(tokens: Sequence[Node]) -> Iterator[list[Node]]:
    """Yield the parts between commas, without white space and comments around them."""
    part: list[Node] = []
    for token in [*tokens, None]:
        if token is None or (token.type == "literal" and token.value == ","):
            yield strip_spaces(part)
            part = []
        else:
            part.append(token)


def strip_spaces(tokens: Sequence[Node]) -> list[Node]:
    """Return the tokens without white space and comments at both ends."""
    at = [place for place, token in enumerate(tokens) if token.type not in ("whitespace", "comment")]
    return list(tokens[at[0] : at[-1] + 1]) if at else []


def _holds(query: Sequence[Node], depth: int = 0) -> bool:
    """Say whether one query or condition holds: a type, features in brackets, `not`, `and`, `or`."""
    parts = [token for token in query if token.type not in ("whitespace", "comment")]
    words = [token.lower_value if token.type == "ident" else "" for token in parts]
    if words[:1] == ["only"]:
        parts, words = parts[1:], words[1:]
    if words[:1] == ["not"]:
        return not _holds(parts[1:], depth)
    held = [_part_holds(token, word, depth) for token, word in zip(parts, words, strict=True) if word not in ("and", "or")]
    return bool(held) and (any(held) if "or" in words else all(held))


def _part_holds(token: Node, word: str, depth: int) -> bool:
    if word:
        return word in ("all", "screen")
    if token.type != "() block" or depth > MAX_DEPTH:
        return False
    if any(inner.type == "() block" for inner in token.content):
        return _holds(token.content, depth + 1)
    return _has_feature(tinycss2.serialize(token.content).lower())


def _has_feature(feature: str) -> bool:
    name, colon, value = (part.strip() for part in feature.partition(":"))
    if colon:
        name = name.removeprefix("-webkit-")
        for bound, sign in (("min-", ">="), ("max-", "<=")):
            if name.startswith(bound):
                return _compare(name.removeprefix(bound), sign, value)
        return _WORDS[name] == value if name in _WORDS else _compare(name, "=", value)
    parts = [part.strip() for part in _COMPARED.split(feature)]
    if len(parts) == 1:
        return _WORDS.get(name, "none") not in _NO or bool(_NUMBERS.get(name))
    left = parts[:3] if parts[0] in _NUMBERS else [parts[2], _OPPOSITE[parts[1]], parts[0]]
    return _compare(*left) and (len(parts) == 3 or _compare(*parts[2:5]))


def _compare(name: str, sign: str, value: str) -> bool:
    found = _VALUE.fullmatch(value)
    if found is None or name not in _NUMBERS:
        return False
    number, below, unit = found.groups()
    asked = float(number) / (float(below) or 1.0) if below else float(number) * _UNITS.get(unit or "px", 0.0)
    own = _NUMBERS[name]
    return {"=": own == asked, ">=": own >= asked, "<=": own <= asked, ">": own > asked, "<": own < asked}[sign]
