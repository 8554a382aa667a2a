"""Names of a text: capitalised words inside a sentence, and words that mix letters with digits or capitals (PCSK9, mRNA)."""

import re
from functools import lru_cache

# Whether a word has a capital or a digit at all is asked first: few have, and each form is then tried at those alone.
_NAME = re.compile(r"\b(?=[^\WA-Z\d]*[A-Z\d])(?:(?<![.!?]\s)(?<!^)[A-Z][\w'’-]*|\w*\d\w*[A-Za-z]\w*|\w+[A-Z]\w*)")


@lru_cache(maxsize=1_024)
def names_of(text: str) -> frozenset[str]:
    """The names, each word by itself, in lower case. A capitalised first word is none: it may be any word.

    Those of the latest texts are kept: a claim is held against several pieces of evidence.
    """
    return frozenset(name.lower() for name in _NAME.findall(text))
