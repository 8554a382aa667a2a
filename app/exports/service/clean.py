"""What no document may carry: characters that are not text, or that turn the reading direction of what follows."""

import re
from urllib.parse import quote

# Controls (but tab and line feed), lone surrogates, private-use placeholders of our own, non-characters, overrides of direction.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ue000\ue001\ufffe\uffff\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """The text without such characters."""
    return _UNFIT.sub("", text)


def one_line(text: str) -> str:
    """The clean text with every run of blanks as one."""
    return " ".join(clean(text).split())


def in_ascii(url: str) -> str:
    """The same address with letters beyond ASCII percent-encoded: PDF and Word take no others in a link."""
    return "".join(character if character.isascii() else quote(character) for character in url)
