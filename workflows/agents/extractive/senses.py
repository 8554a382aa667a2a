"""A noun of the question that a sentence has as a verb: "I trust that" tells nothing of trusts, "we press on" of no press."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from workflows.agents.extractive.words import Word, is_ideographic, listed, words

_BEFORE_NOUN = frozenset(listed("the a an of about on over toward towards regarding concerning against for"))
_BEFORE_VERB = frozenset(listed("to i we you they he she who not will shall would should must may might can could cannot never"))


def nouns_of(text: str, subject: Sequence[Word]) -> frozenset[str]:
    """The terms of the subject's words that a question has as nouns: plurals, and what follows an article or "about"."""
    before = {after.start: word.text.lower() for word, after in pairwise(words(text))}
    return frozenset(
        word.term
        for word in subject
        if not is_ideographic(word.text)
        and word.text.islower()
        and not word.text.endswith(("ing", "ed"))
        and (_is_plural(word) or before.get(word.start) in _BEFORE_NOUN)
    )


def _is_plural(word: Word) -> bool:
    return word.text.endswith("s") and not word.text.endswith("ss") and word.term != word.text


@lru_cache(maxsize=16_384)
def as_verbs(text: str, nouns: frozenset[str]) -> frozenset[str]:
    """The terms among these nouns' that a text has only as verbs."""
    found = words(text)
    nominal: dict[str, bool] = {}
    for place, word in enumerate(found):
        if word.term and word.term in nouns:
            before = found[place - 1].text.lower() if place else ""
            verb = word.text.endswith("ed") or before in _BEFORE_VERB or before.endswith(("'ll", "’ll"))
            nominal[word.term] = nominal.get(word.term, False) or not verb
    return frozenset(term for term, as_noun in nominal.items() if not as_noun)
