"""Stop words: words that carry grammar, or talk about a study, and say nothing of a text's subject."""

import re
from itertools import chain

from retrieval.language.word_lists import read_lists

_LISTS = read_lists("stop_words.toml")
_FOREIGN, _IN_ENGLISH_TOO = read_lists("foreign_words.toml"), read_lists("foreign_words_in_english.toml")
STOP_WORDS = frozenset(_LISTS["english"])
"""English stop words in lower case. Negations are none: they turn what is said."""
WORDS_OF_LANGUAGES = {name: frozenset((*words, *_IN_ENGLISH_TOO.get(name, ()))) for name, words in _FOREIGN.items()}
"""The small words of each language in Latin letters but English, by the language's English name."""
FOREIGN_WORDS = frozenset(chain(*_FOREIGN.values()))
"""Small words of other languages in Latin letters that are no English words."""
SMALL_WORDS = FOREIGN_WORDS.union(*WORDS_OF_LANGUAGES.values())
"""All small words of other languages in Latin letters."""
_CHINESE_RUN = re.compile(f"[^{''.join(_LISTS['chinese'])}]+")


def split_at_stop_words(run: str) -> list[str]:
    """Cut a run of ideographs where one of them only carries grammar, and leave that one out."""
    return _CHINESE_RUN.findall(run)
