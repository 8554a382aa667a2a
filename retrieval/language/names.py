"""Names of a text: capitalised words inside a sentence, and words that mix letters with digits or capitals (PCSK9, mRNA)."""

import re

from app.domain.script import IDEOGRAPHS

_LETTER = rf"[^\W{IDEOGRAPHS}]"
# Each form is tried at the beginning of a word only, and none reads a word twice: strangers write words of any length.
_NAME = re.compile(
    rf"(?<!{_LETTER})(?:(?<![.!?]\s)(?<!^)[A-Z](?:{_LETTER}|['’-])*"
    rf"|(?=[^\W\d{IDEOGRAPHS}]*\d[^\WA-Za-z{IDEOGRAPHS}]*[A-Za-z]){_LETTER}+|{_LETTER}+[A-Z]{_LETTER}*)"
)


def find_names(text: str) -> frozenset[str]:
    """Find the names, each word by itself, in lower case. A capitalised first word is none: it may be any word."""
    return frozenset(name.lower() for name in _NAME.findall(text))
