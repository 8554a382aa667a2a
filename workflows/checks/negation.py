"""Words that deny what is said near them."""

from retrieval.language.word_lists import read_lists

NEGATION_REACH = 4
"""The most words between a negation and the word that it denies, and one more."""
NEGATIONS = frozenset(read_lists("negation.toml", "workflows.checks")["negations"])
_CHINESE_NEGATIONS = ("不", "没", "無", "无", "未", "非", "否")


def is_negation(word: str) -> bool:
    """Say whether a word in lower case is a negation."""
    return word in NEGATIONS or word.endswith(("n't", "n’t")) or word.startswith(_CHINESE_NEGATIONS)
