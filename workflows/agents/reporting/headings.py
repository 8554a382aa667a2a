"""Headings inside a written text. The bodies of a report have no headings of their own; a line of code is none."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from app.domain.code import find_fenced_code
from workflows.checks.markdown import remove_open_fence

_MARKED = re.compile(r"^[ \t]{0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t#]*$", re.MULTILINE)
_BOLD = r"^[ \t]{0,3}\*\*([^*\n\[\]]{1,119}[^*\n\[\].!?。！？])\*\*[ \t]*:?[ \t]*$"
_MARKED_OR_BOLD = re.compile(rf"{_MARKED.pattern}|{_BOLD}", re.MULTILINE)
_RULE = re.compile(r"\n[ \t]{0,3}(?:=+|-+)[ \t]*$", re.MULTILINE)
_UNDERLINE = re.compile(rf"(?<=\S)[ \t]*{_RULE.pattern}", re.MULTILINE)


class HeadedPart(NamedTuple):
    """A stretch of text with the heading above it; `level` counts the marks, 0 for the text before the first heading."""

    level: int
    heading: str
    text: str


def split_at_headings(text: str) -> Iterator[HeadedPart]:
    """Cut the text at its headings. A line that is bold as a whole, cites nothing and is no sentence is one of level 3."""
    text = _remove_underlines(text)
    code = find_fenced_code(text)
    level, heading, at = 0, "", 0
    for found in _MARKED_OR_BOLD.finditer(text):
        if code.holds(found.start()):
            continue
        yield HeadedPart(level, heading, text[at : found.start()].strip())
        level = len(found.group(1) or "###")
        heading = " ".join((found.group(2) or found.group(3) or "").split()).strip("*_# ")
        at = found.end()
    yield HeadedPart(level, heading, text[at:].strip())


def drop_title(text: str, heading: str) -> str:
    """Return a section without its heading where it begins with it as plain text, with a number before or a colon behind."""
    again = re.compile(rf"\s*(?:\d{{1,2}}[.)]\s*)?{re.escape(heading)}[ \t]*(?:[:：]\s*|\n\s*|$)", re.IGNORECASE)
    while heading and (found := again.match(text)):
        text = text[found.end() :]
    return text


def flatten_headings(text: str, besides: str = "") -> str:
    """Turn headings into bold lines; remove empty headings and one that says `besides`."""
    text = _remove_underlines(text)
    code = find_fenced_code(text)

    def bold(match: re.Match[str]) -> str:
        if code.holds(match.start()):
            return match.group()
        heading = (match.group(2) or "").strip(" #*_")
        return f"**{heading}**" if heading and heading.casefold() != besides.casefold() else ""

    return _MARKED.sub(bold, text).strip()


def _remove_underlines(text: str) -> str:
    """Remove the lines that make a heading of the line above them, and fences that nothing closes."""
    text = remove_open_fence(text)
    if not _RULE.search(text):  # most texts have no rule, and to see that is quick
        return text
    code = find_fenced_code(text)
    return _UNDERLINE.sub(lambda match: match.group() if code.holds(match.start()) else "", text)
