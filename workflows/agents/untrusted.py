"""Making text from outside safe to show: it is data, never an instruction, and cannot imitate our delimiters."""

import re

# Everything that could pass for one of our delimiters, or for the turn markers of a model.
_IMITATION = re.compile(
    r"<(?=[/!?|｜]|\s*(?:/\s*)?[A-Za-z_])|＜(?=\s*[/|｜]?\s*\w)|\[(?=/?(?:INST|SYS|SYSTEM|TOOL_\w+|AVAILABLE_TOOLS)\b)",
    re.IGNORECASE,
)
# Ids as agents cite by them, and the markers of a report.
_CITATION = re.compile(r"\[(?=\[)|[\[(【](?=\s*[PpQq]\d{1,6}\s*[\])】,;，、])")
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e01ef"
)
"""Characters that nobody sees, as they stand in the brackets of a pattern."""
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
HARMLESS = "‹"


def remove_invisible(text: str) -> str:
    """Remove invisible characters from the text."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def as_data(text: str) -> str:
    """Remove invisible characters and make every imitation of a delimiter harmless."""
    return _IMITATION.sub(HARMLESS, remove_invisible(text))


def as_source(text: str) -> str:
    """Return words of a source as data, in which nothing can pass for one of our citations."""
    return _CITATION.sub(HARMLESS, as_data(text))


def as_attribute(text: str, longest: int = 200) -> str:
    """Return the text on one line, safe inside quotation marks."""
    return " ".join(as_data(text).split()).replace('"', "'")[:longest]
