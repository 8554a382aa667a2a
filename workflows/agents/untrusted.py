"""Making text from outside safe to show: it is data, never an instruction, and cannot imitate our delimiters."""

import re

from retrieval.untrusted.invisible import remove_invisible

# Everything that could pass for one of our delimiters, or for the turn markers of a model.
_IMITATION = re.compile(
    r"<(?=[/!?|｜]|\s*(?:/\s*)?[A-Za-z_])|＜(?=\s*[/|｜]?\s*\w)|\[(?=/?(?:INST|SYS|SYSTEM|TOOL_\w+|AVAILABLE_TOOLS)\b)",
    re.IGNORECASE,
)
# Ids as agents cite by them, and the markers of a report.
_CITATION = re.compile(r"\[(?=\[)|[\[(【](?=\s*[PpQq]\d{1,6}\s*[\])】,;，、])")
HARMLESS = "‹"


def as_data(text: str) -> str:
    """Remove invisible characters and make every imitation of a delimiter harmless."""
    return _IMITATION.sub(HARMLESS, remove_invisible(text))


def as_source(text: str) -> str:
    """Return words of a source as data, in which nothing can pass for one of our citations."""
    return _CITATION.sub(HARMLESS, as_data(text))


def as_attribute(text: str, longest: int = 200) -> str:
    """Return the text on one line, safe inside quotation marks."""
    return " ".join(as_data(text).split()).replace('"', "'")[:longest]
