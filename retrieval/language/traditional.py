"""Traditional ideographs read as simplified ones, so that one list of words and one index serve both ways of writing Chinese."""

from opencc import OpenCC

_SIMPLIFIED = OpenCC("t2s")


def simplify(text: str) -> str:
    """Return the text with simplified ideographs. Every character keeps its place."""
    if text.isascii():
        return text
    simplified = _SIMPLIFIED.convert(text)
    return simplified if len(simplified) == len(text) else "".join(map(_simplify_one, text))


def _simplify_one(character: str) -> str:
    simplified = _SIMPLIFIED.convert(character)
    return simplified if len(simplified) == 1 else character
