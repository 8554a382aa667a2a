"""The removal of invisible characters, which hide words from people or reorder what people see."""

import re
from typing import NamedTuple

from app.domain.safe_text import make_safe

_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_SELECTORS = re.compile("[\ufe00-\ufe0e\U000e0100-\U000e01ef]+")
_HIDING = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a]+"
)
# Joiners are needed by Persian, Indic scripts and emoji; next to a Latin letter or a digit they only hide.
_JOINERS = re.compile("(?<=[\x00-\u024f])[\u200c\u200d]+|[\u200c\u200d]+(?=[\x00-\u024f])")


class VisibleText(NamedTuple):
    """The visible text, and the words that were spelled in invisible characters."""

    text: str
    hidden: str


def split_visible(text: str) -> VisibleText:
    """Remove invisible and control characters from a text, and read those that spell words (tags, variation selectors)."""
    hidden = [spelled for found in (*_TAGS.finditer(text), *_SELECTORS.finditer(text)) if (spelled := _spell(found.group()))]
    text = _TAGS.sub("", text)
    text = _SELECTORS.sub("", text)
    return VisibleText(make_safe(_JOINERS.sub("", _HIDING.sub("", text))), "\n".join(hidden))


def _spell(characters: str) -> str:
    """Read hidden characters: tags are shifted ASCII, and a run of selectors may encode bytes."""
    if len(characters) < 3:
        return ""
    codes = [_byte_of(ord(character)) for character in characters]
    return bytes(code for code in codes if 9 <= code < 256).decode("utf-8", errors="replace")


def _byte_of(code: int) -> int:
    if code >= 0xE0100:
        return code - 0xE0100 + 16
    return code - 0xE0000 if code >= 0xE0000 else code - 0xFE00
