"""Metrics of short answers against gold answers, in English and Chinese: exact match and token F1, as SQuAD scores them.

Both take the best over all gold answers. Case, punctuation and English articles do not count; Chinese is compared by ideograph.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from retrieval.language.tokens import split_units

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_UNITS = re.compile(r"[$%,]")
_LISTED = re.compile(r"[,;]")


def tokens_of(text: str) -> list[str]:
    """Return the words and ideographs that are compared."""
    return split_units(_ARTICLES.sub(" ", unicodedata.normalize("NFKC", text).casefold()))


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """Return 1 where the answer is one of the gold answers, else 0. An answer without any token matches none."""
    said = tokens_of(answer)
    return float(bool(said) and any(said == tokens_of(text) for text in gold))


def token_f1(answer: str, gold: Sequence[str]) -> float:
    """Return the harmonic mean of token precision and recall, from 0 to 1."""
    return max((_f1_of(tokens_of(answer), tokens_of(text)) for text in gold), default=0.0)


def _f1_of(said: Sequence[str], wanted: Sequence[str]) -> float:
    shared = sum((Counter(said) & Counter(wanted)).values())
    return 2 * shared / (len(said) + len(wanted)) if shared else 0.0


def is_gaia_match(answer: str, gold: str) -> bool:
    """Compare by GAIA's quasi-exact match: numbers as numbers, lists entry by entry, else letters and digits in any case.

    The gold answer is a number only without units and thousands separators, so that `1,2` is a list of two; the answer may have
    them. A list entry that is no number must have the gold's punctuation, as in the benchmark's own script.
    """
    if (wanted := _as_number(gold)) is not None:
        return _as_number(_UNITS.sub("", answer)) == wanted
    if len(entries := _LISTED.split(gold)) > 1:
        said = _LISTED.split(answer)
        return len(said) == len(entries) and all(_is_same_entry(one, other) for one, other in zip(said, entries, strict=True))
    return bool(_strip_marks(gold)) and _strip_marks(answer) == _strip_marks(gold)


def _is_same_entry(answer: str, gold: str) -> bool:
    if (wanted := _as_number(gold)) is not None:
        return _as_number(_UNITS.sub("", answer)) == wanted
    return "".join(answer.casefold().split()) == "".join(gold.casefold().split())


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _strip_marks(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())
