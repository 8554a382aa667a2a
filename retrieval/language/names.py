"""Names of a text: capitalised words inside a sentence, and words that mix letters with digits or capitals (PCSK9, mRNA)."""

import re
from functools import lru_cache

from app.domain.script import IDEOGRAPHS

_LETTER = rf"[^\W{IDEOGRAPHS}]"
# Whether a word has a capital or a digit at all is asked first: few have, and each form is then tried at those alone.
_NAME = re.compile(
    rf"(?<!{_LETTER})(?=[^\WA-Z\d{IDEOGRAPHS}]*[A-Z\d])"
    rf"(?:(?<![.!?]\s)(?<!^)[A-Z](?:{_LETTER}|['’-])*|{_LETTER}*\d{_LETTER}*[A-Za-z]{_LETTER}*|{_LETTER}+[A-Z]{_LETTER}*)"
)


@lru_cache(maxsize=1_024)
def find_names(text: str) -> frozenset[str]:
    """Find the names, each word by itself, in lower case. A capitalised first word is none: it may be any word.

    Those of the latest texts are kept: a claim is held against several pieces of evidence.
    """
    return frozenset(name.lower() for name in _NAME.findall(text))
