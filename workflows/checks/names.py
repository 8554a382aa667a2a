"""Names of a text: capitalised words inside a sentence, and words that mix letters with digits or capitals (PCSK9, mRNA)."""

import re
from functools import lru_cache

_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'’-]*|\b\w*\d\w*[A-Za-z]\w*|\b\w+[A-Z]\w*")


@lru_cache(maxsize=1_024)
def names_of(text: str) -> frozenset[str]:
    """The names, each word by itself, in lower case. A capitalised first word is none: it may be any word.

    Those of the latest texts are kept: a claim is held against several pieces of evidence.
    """
    return frozenset(name.lower() for name in _NAME.findall(text))
