"""Stems: what the forms of an English word have in common.

There are two, for two uses. Texts are found by Snowball's stem, which brings together words of one root. Sentences are compared
by a light one, which keeps `improvement` and `improve` apart: the grader's weights are fitted on it (see `workflows/checks`).
"""

import re
from functools import lru_cache

import snowballstemmer  # type: ignore[import-untyped]  # ships no types

from retrieval.language.stop_words import STOP_WORDS
from retrieval.language.word_lists import read_lists

KEPT_WORDS = 16_384
"""Words whose stems are remembered: most words of a text are among the commonest few thousand."""
_BASES = {form: base for base, forms in read_lists("irregular.toml").items() for form in forms}
_SNOWBALL = snowballstemmer.stemmer("english")
_POSSESSIVE = re.compile(r"['’]s?$")
# Endings of number, tense and the commonest derivations, the longest first.
_ENDING = re.compile(r"(?<=\w{3})(?:ations?|ments?|ings?|ions?|ies|ied|ity|ities|ally|ly|ed|es|e|(?<!s)s|y)$")


def stem_word(lower: str) -> str:
    """Give the light stem of a word in lower case; it is empty for a stop word."""
    if lower in STOP_WORDS:
        return ""
    bare = _POSSESSIVE.sub("", lower)
    return "" if bare in STOP_WORDS else _ENDING.sub("", bare)


@lru_cache(maxsize=KEPT_WORDS)
def find_root(lower: str) -> str:
    """Give Snowball's stem of a word in lower case, be it a stop word or not. Irregular forms are led to their base first."""
    return str(_SNOWBALL.stemWord(_BASES.get(lower, lower)))
