"""A reader of style sheets: the rules that hold on a screen of usual size, and the parts of a style."""

import re
from collections.abc import Iterator

MAX_CSS = 200_000
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.DOTALL)
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*(?:\"|(?=\n)|\\?\Z)|'(?:[^'\\\n]|\\.)*(?:'|(?=\n)|\\?\Z)", re.DOTALL)
_PART = re.compile(r"([^{}]*)([{}]|\Z)")
_BRACKETS = {"(": 1, "[": 1, ")": -1, "]": -1}
_ALWAYS = re.compile(r"@(?:supports|layer)\b", re.IGNORECASE)
_MEDIA = re.compile(r"@media\b(.*)", re.IGNORECASE | re.DOTALL)
_FEATURE = re.compile(r"\(([^()]*)\)")
_LIMIT = re.compile(r"\s*(?:(min|max)-(?:device-)?)?(width|height)\s*(:|>=?|<=?)\s*([\d.]+)(px|r?em)?\s*", re.IGNORECASE)
_SCREEN = {"width": 1_280.0, "height": 800.0}
EM = 16.0


class _Block:
    def __init__(self, head: str, holds: bool) -> None:
        self.head = head
        self.holds = holds
        self.body: list[str] = []


def read_rules(css: str) -> Iterator[tuple[str, str]]:
    """Yield the selectors and declarations of each rule that holds on a usual screen, from the first 200,000 characters."""
    blocks = [_Block("", True)]
    for text, brace in _PART.findall(_strip_strings(css[:MAX_CSS])):
        if brace == "{":
            before, _, head = text.rpartition(";")
            outer = blocks[-1]
            outer.body.append(f"{before};")
            blocks.append(_Block(head.strip(), outer.holds and _holds(outer.head)))
            continue
        blocks[-1].body.append(text)
        if brace and len(blocks) > 1:
            block = blocks.pop()
            if block.holds:
                yield block.head, "".join(block.body)


def split_outside_brackets(text: str, separator: str) -> Iterator[str]:
    """Split at the separators that are outside of brackets, strings and comments."""
    plain = _strip_strings(text)
    depth = start = 0
    for place, sign in enumerate(plain):
        depth = max(0, depth + _BRACKETS.get(sign, 0))
        if sign == separator and not depth:
            yield plain[start:place]
            start = place + 1
    yield plain[start:]


def _strip_strings(css: str) -> str:
    """Remove comments, and empty strings: their signs are no syntax, and no string decides what is seen."""
    return _STRING.sub('""', _COMMENT.sub(" ", css))


def _holds(head: str) -> bool:
    """Say whether the rules in a block hold at all times. A block of something else than conditions has no rules."""
    media = _MEDIA.match(head)
    if media is None:
        return not head or _ALWAYS.match(head) is not None
    return any(map(_fits_screen, split_outside_brackets(media.group(1), ",")))


def _fits_screen(query: str) -> bool:
    kind = _FEATURE.sub(" ", query).lower().split()
    elsewhere = "print" in kind or "speech" in kind
    if "not" in kind:
        return elsewhere
    return not elsewhere and all(map(_has_room, _FEATURE.findall(query)))


def _has_room(feature: str) -> bool:
    """Say whether the usual screen has this width or height. What else is asked depends on the reader, and is left out."""
    found = _LIMIT.fullmatch(feature)
    if found is None:
        return False
    bound, side, sign, number, unit = (part.lower() if part else "" for part in found.groups())
    asked = float(number) * (EM if unit.endswith("em") else 1.0)
    at_least = bound == "min" or sign.startswith(">")
    return _SCREEN[side] >= asked if at_least else _SCREEN[side] <= asked
