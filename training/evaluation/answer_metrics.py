"""Short answers against gold ones: exact match and token F1, as SQuAD and the multi-hop sets score them, in English and Chinese.

Both take the best over all gold answers. Case, punctuation and English articles do not count; Chinese is compared by ideograph.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")


def tokens(text: str) -> list[str]:
    """What is compared."""
    return _TOKEN.findall(_ARTICLES.sub(" ", unicodedata.normalize("NFKC", text).casefold()))


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """1 where the answer is one of the gold answers, else 0. Two texts without any token are not the same."""
    said = tokens(answer)
    return float(bool(said) and any(said == tokens(text) for text in gold))


def token_f1(answer: str, gold: Sequence[str]) -> float:
    """The harmonic mean of token precision and recall, from 0 to 1."""
    return max((_f1(tokens(answer), tokens(text)) for text in gold), default=0.0)


def _f1(said: Sequence[str], wanted: Sequence[str]) -> float:
    shared = sum((Counter(said) & Counter(wanted)).values())
    return 2 * shared / (len(said) + len(wanted)) if shared else 0.0
