"""Remove what no document may contain: characters that are not text, or that turn the reading direction of what follows."""

import re
from urllib.parse import quote

# Controls (except tab and line feed), lone surrogates, our private-use placeholders, non-characters, overrides of direction.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ue000\ue001\ufffe\uffff\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Return the text without such characters."""
    return _UNFIT.sub("", text)


def to_clean_line(text: str) -> str:
    """Return the clean text with every run of blanks as one."""
    return " ".join(clean(text).split())


def to_ascii(url: str) -> str:
    """Return the same address with letters beyond ASCII percent-encoded: links in PDF and Word allow no others."""
    return "".join(character if character.isascii() else quote(character) for character in url)
