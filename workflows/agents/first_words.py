"""How a match of a pattern can begin: a text without any of these beginnings need not be searched."""

import re
from collections.abc import Iterator

SHORTEST = 2
_LITERAL = re.compile(r"[^()\[\]{}\\?*+.^$|]+")
_OPTIONAL = ("?", "*", "{")


def first_words(pattern: str) -> tuple[str, ...]:
    """Literal beginnings, one of which every match has; none if that is unknown. A boundary before it is passed over."""
    found = tuple(dict.fromkeys(_beginnings(pattern.removeprefix(r"\b"))))
    return found if all(len(word) >= SHORTEST or (word and not word.isascii()) for word in found) else ()


def _beginnings(pattern: str) -> Iterator[str]:
    for alternative in _alternatives(pattern):
        if alternative.startswith("(?:"):
            end = _closing(alternative)
            if alternative[end + 1 : end + 2] in _OPTIONAL:
                yield ""
            else:
                yield from _beginnings(alternative[3:end])
        else:
            literal = _LITERAL.match(alternative)
            text = literal.group() if literal else ""
            yield text[:-1] if alternative[len(text) : len(text) + 1] in _OPTIONAL and text else text


def _alternatives(pattern: str) -> Iterator[str]:
    """The pattern's parts between bars that stand in no parentheses."""
    start = depth = 0
    for token in re.finditer(r"\\.|\[(?:\\.|[^\]\\])*\]|[()|]", pattern):
        depth += (token.group() == "(") - (token.group() == ")")
        if token.group() == "|" and depth == 0:
            yield pattern[start : token.start()]
            start = token.end()
    yield pattern[start:]


def _closing(pattern: str) -> int:
    """Where the group that opens the pattern ends."""
    depth = 0
    for token in re.finditer(r"\\.|\[(?:\\.|[^\]\\])*\]|[()]", pattern):
        depth += (token.group() == "(") - (token.group() == ")")
        if depth == 0 and token.group() == ")":
            return token.start()
    return len(pattern)
