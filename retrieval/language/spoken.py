"""The name of the language in which a question is asked."""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from app.domain.query import Language, detect_language
from retrieval.language.english import is_english
from retrieval.language.stop_words import FOREIGN_WORDS, WORDS_OF_LANGUAGES

KEPT_QUESTIONS = 256
"""The questions whose language is remembered: each request of a run asks for it."""
UNNAMED = "the language of the question"
_OF_SCRIPTS = {
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "GREEK": "Greek",
    "HEBREW": "Hebrew",
    "THAI": "Thai",
    "GEORGIAN": "Georgian",
    "ARMENIAN": "Armenian",
    "TAMIL": "Tamil",
    "BENGALI": "Bengali",
}
"""The languages whose letters no other large one has, by the first word of the letters' names in Unicode."""
_WORD = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=KEPT_QUESTIONS)
def name_language(question: str) -> str:
    """Return the English name of a question's language; empty for English, Chinese, and a few keywords of any language."""
    scripts = [script for script, _ in _count_scripts(question).most_common()]
    named = next((_OF_SCRIPTS[script] for script in scripts if script in _OF_SCRIPTS), "")
    if named and scripts[0] != "LATIN":
        return named
    words = frozenset(_WORD.findall(question.lower()))
    mixed = not question.isascii() and words & FOREIGN_WORDS
    if detect_language(question) is Language.CHINESE or (is_english(question) and not mixed):
        return ""
    (name, most), (_, next_most) = Counter({name: len(words & own) for name, own in WORDS_OF_LANGUAGES.items()}).most_common(2)
    return name if most > max(1, next_most) else UNNAMED


def _count_scripts(text: str) -> Counter[str]:
    return Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in text if letter.isalpha())
