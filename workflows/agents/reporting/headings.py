"""Headings inside a written text. The bodies of a report have no headings of their own."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_MARKED = re.compile(r"^[ \t]{0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t#]*$", re.MULTILINE)
_MARKED_OR_BOLD = re.compile(rf"{_MARKED.pattern}|^[ \t]{{0,3}}\*\*([^*\n]{{2,120}})\*\*[ \t]*:?[ \t]*$", re.MULTILINE)
_UNDERLINE = re.compile(r"(?<=\S)[ \t]*\n[ \t]{0,3}(?:=+|-+)[ \t]*$", re.MULTILINE)


class HeadedPart(NamedTuple):
    """A stretch of text with the heading above it; `level` counts the marks, 0 for the text before the first heading."""

    level: int
    heading: str
    text: str


def split_at_headings(text: str) -> Iterator[HeadedPart]:
    """Cut the text at its headings; a line that is bold as a whole counts as a heading of level 3."""
    text = _UNDERLINE.sub("", text)
    level, heading, at = 0, "", 0
    for found in _MARKED_OR_BOLD.finditer(text):
        yield HeadedPart(level, heading, text[at : found.start()].strip())
        level = len(found.group(1) or "###")
        heading = " ".join((found.group(2) or found.group(3) or "").split()).strip("*_# ")
        at = found.end()
    yield HeadedPart(level, heading, text[at:].strip())


def flatten_headings(text: str, besides: str = "") -> str:
    """Turn headings into bold lines; remove empty headings and one that says `besides`."""

    def bold(match: re.Match[str]) -> str:
        heading = (match.group(2) or "").strip(" #*_")
        return f"**{heading}**" if heading and heading.casefold() != besides.casefold() else ""

    return _MARKED.sub(bold, _UNDERLINE.sub("", text)).strip()
