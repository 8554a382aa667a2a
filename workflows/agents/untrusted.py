"""Text from outside is data, never instruction: it is shown between delimiters which it cannot imitate."""

import re

_DELIMITER = re.compile(
    r"<(?=\s*/?\s*(?:tool_call|tool_response|snippet|webpage|quote|evidence|findings?|report|section|think(?:ing)?|answer|cite"
    r"|system|assistant|user|instructions?|function|memory|notes?)\b)|<(?=\|)",
    re.IGNORECASE,
)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f]")
_SPACE = re.compile(r"\s+")
HARMLESS = "‹"


def as_data(text: str) -> str:
    """The text with invisible characters removed and every imitation of a delimiter made harmless."""
    return _DELIMITER.sub(HARMLESS, text if text.isascii() else _INVISIBLE.sub("", text))


def as_attribute(text: str, longest: int = 200) -> str:
    """The text on one line, fit to stand in quotes."""
    return _SPACE.sub(" ", as_data(text)).strip().replace('"', "'")[:longest]
