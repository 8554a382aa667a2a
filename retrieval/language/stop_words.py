"""Stop words: words that carry grammar, or talk about a study, and say nothing of a text's subject."""

import re

from retrieval.language.word_lists import read_lists

_LISTS = read_lists("stop_words.toml")
STOP_WORDS = frozenset(_LISTS["english"])
"""English stop words in lower case. Negations are none: they turn what is said."""
FOREIGN_WORDS = frozenset(_LISTS["foreign"])
"""Small words of other languages in Latin letters that are no English words."""
SMALL_WORDS = FOREIGN_WORDS | frozenset(_LISTS["foreign_further"])
"""All small words of other languages in Latin letters."""
_CHINESE_RUN = re.compile(f"[^{''.join(_LISTS['chinese'])}]+")


def split_at_stop_words(run: str) -> list[str]:
    """Cut a run of ideographs where one of them only carries grammar, and leave that one out."""
    return _CHINESE_RUN.findall(run)
