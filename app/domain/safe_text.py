"""Remove from text that comes in what no text here may hold.

Control characters can command a terminal and break lines of logs. Overrides, embeddings and isolates of direction change the
order in which people see words, so that they read something else than the letters say. Marks of direction (U+200E, U+200F,
U+061C) and joiners (U+200C, U+200D) stay: Hebrew, Arabic, Persian and Indian scripts are written with them.
"""

import re
import unicodedata
from typing import Annotated, Any

from pydantic import BeforeValidator

_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_REMOVED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069]")
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
# The invisible characters that belong to the spelling of a word, or to its place in a line.
SPELLING = frozenset("\u200c\u200d\u200e\u200f\u061c")


def make_safe(text: str) -> str:
    """Return the text with every kind of line break as a line feed, and without other controls and turns of direction."""
    if not _UNSAFE.search(text):
        return text
    return _REMOVED.sub("", _BREAKS.sub("\n", text))


def _make_safe_text(given: Any) -> Any:
    return make_safe(given) if isinstance(given, str) else given


SafeText = Annotated[str, BeforeValidator(_make_safe_text)]


def make_safe_line(text: str) -> str:
    """Return the safe text on one line."""
    return " ".join(make_safe(text).split())


def make_safe_value(value: Any) -> Any:
    """Return what a JSON text says with every text in it safe, also the names."""
    if isinstance(value, str):
        return make_safe(value)
    if isinstance(value, dict):
        return {make_safe_value(name): make_safe_value(held) for name, held in value.items()}
    return [make_safe_value(held) for held in value] if isinstance(value, list) else value


def drop_invisible(text: str) -> str:
    """Return the safe text without characters that show nothing, but for those of `SPELLING`: for what people type."""
    kept = (c for c in make_safe(text) if c in SPELLING or unicodedata.category(c) not in ("Cf", "Cs"))
    return "".join(kept)
