"""Whether a text is English, as far as its letters and its small words tell."""

import re

from app.domain.query import Language, detect_language
from retrieval.language.stop_words import FOREIGN_WORDS, STOP_WORDS

LAST_LATIN = "\u024f"
_WORD = re.compile(r"[^\W\d_]+")


def is_english(text: str) -> bool:
    """Say whether a text may be English: in Latin letters, and with no more small words of other languages than of English.

    A name or a few keywords of any language pass.
    """
    if detect_language(text) is not Language.ENGLISH:
        return False
    words = _WORD.findall(text.lower())
    letters, known = "".join(words), frozenset(words)
    if 2 * sum(letter > LAST_LATIN for letter in letters) > len(letters):
        return False
    return len(known & FOREIGN_WORDS) <= len(known & STOP_WORDS)
