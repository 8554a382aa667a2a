"""Remove what no document may contain: characters that are not text, or that turn the reading direction of what follows."""

import re
from urllib.parse import quote

from app.domain.safe_text import make_safe

# Lone surrogates, our private-use placeholders, non-characters.
_UNFIT = re.compile("[\ud800-\udfff\ue000\ue001\ufffe\uffff]")


def clean(text: str) -> str:
    """Return the text without such characters. Reports of earlier versions can hold unsafe ones."""
    return _UNFIT.sub("", make_safe(text))


def to_clean_line(text: str) -> str:
    """Return the clean text with every run of blanks as one."""
    return " ".join(clean(text).split())


def to_ascii(url: str) -> str:
    """Return the same address with letters beyond ASCII percent-encoded: links in PDF and Word allow no others."""
    return "".join(character if character.isascii() else quote(character) for character in url)
