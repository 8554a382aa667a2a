"""Whether a text is English, or of another language than others, as far as its letters and its small words tell."""

import re
from collections.abc import Iterable
from enum import Enum

from app.domain.query import Language, detect_language
from retrieval.language.stop_words import FOREIGN_WORDS, SMALL_WORDS, STOP_WORDS

SURELY_ENGLISH = 3
"""Few sentences of another language have so many small words of English: "in", "was", "so" and "an" are also German."""
LAST_LATIN = "\u024f"
_WORD = re.compile(r"[^\W\d_]+")
_NOT_ONLY_ENGLISH = SMALL_WORDS - STOP_WORDS


class _Tongue(Enum):
    CHINESE, ENGLISH, OTHER, UNKNOWN = range(4)


def is_in_other_language(text: str, others: Iterable[str]) -> bool:
    """Say whether a text is in another language than all the others. Names and keywords are of any language."""
    own = _find_tongue(text)
    if own is _Tongue.UNKNOWN:
        return False
    met = {_find_tongue(other) for other in others} - {_Tongue.UNKNOWN}
    return bool(met) and own not in met


def _find_tongue(text: str) -> _Tongue:
    if detect_language(text) is Language.CHINESE:
        return _Tongue.CHINESE
    if not is_english(text):
        return _Tongue.OTHER
    small = STOP_WORDS.intersection(_WORD.findall(text.lower()))
    return _Tongue.ENGLISH if len(small) >= SURELY_ENGLISH else _Tongue.UNKNOWN


def drop_small_words(text: str) -> str:
    """Return a text in another language than English or Chinese without its small words: "de" says nothing of what is asked.

    A text of small words alone stays as it is, like those in English and Chinese, whose words are left out where they are read.
    """
    if is_english(text) or detect_language(text) is not Language.ENGLISH:
        return text
    kept = _WORD.sub(lambda word: "" if len(word[0]) == 1 or word[0].lower() in SMALL_WORDS else word[0], text)
    return kept if _WORD.search(kept) else text


def is_english(text: str) -> bool:
    """Say whether a text may be English: in Latin letters, and with no more small words of other languages than of English.

    A name or a few keywords of any language pass.
    """
    if detect_language(text) is not Language.ENGLISH:
        return False
    words = _WORD.findall(text.lower())
    letters, known = "".join(words), frozenset(words)
    if not letters.isascii() and 2 * sum(letter > LAST_LATIN for letter in letters) > len(letters):
        return False
    if not known & FOREIGN_WORDS:
        return True  # a word that English has too tells of another language only beside one that it lacks
    return len(known & _NOT_ONLY_ENGLISH) <= len(known & STOP_WORDS)
