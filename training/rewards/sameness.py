"""Decides which texts say the same words, so that a reward counts once what is only dressed up differently.

Case, accents, invisible characters, punctuation, spacing, word order, inflection, words of grammar, and the two ways of writing
Chinese make no difference.
"""

import re
import unicodedata
from collections.abc import Hashable, Iterator
from functools import lru_cache

from app.domain.script import is_ideograph
from retrieval.language.tokens import list_stems
from retrieval.language.traditional import simplify

READ_AT_ONCE = 4_096
_APART = re.compile(r"[\W_]+")
_ADDRESS = re.compile(r"https?://\S+")
_INVISIBLE = frozenset({"Mn", "Cf"})
_COUNTER = re.compile(r"[a-z]|[ivx]{1,4}")


def fold_text(text: str) -> str:
    """Return the text in NFKC without case, accents and punctuation, with one space before, between and after its words.

    Ideographs are simplified.
    """
    plain = text.casefold()
    if not text.isascii():
        parted = unicodedata.normalize("NFKD", simplify(unicodedata.normalize("NFKC", text)).casefold())
        plain = "".join(c for c in parted if unicodedata.category(c) not in _INVISIBLE)
    return f" {_APART.sub(' ', plain).strip()} "


def has_words(text: str) -> bool:
    """Say whether a text has a letter or a digit."""
    return any(c.isalnum() for c in text)


def query_key_of(query: str) -> Hashable:
    """Return the key that equal queries share: their stems; the text itself for an address, or for words of grammar alone."""
    folded = fold_text(query)
    return query.strip() if _ADDRESS.fullmatch(query.strip()) else frozenset(_list_units(folded)) or folded


@lru_cache(maxsize=READ_AT_ONCE)
def statement_key_of(statement: str) -> frozenset[str]:
    """Return the key that repeated statements share: their stems without numbers and counters such as "(a)" and "iv".

    A statement without such stems has its whole text. The key's size says how much is stated.
    """
    folded = fold_text(statement)
    return frozenset(unit for unit in _list_units(folded) if not _is_counter(unit)) or frozenset([folded])


def _list_units(folded: str) -> Iterator[str]:
    """Yield the stems, and single ideographs."""
    for stem in list_stems(folded):
        yield from stem if is_ideograph(stem[0]) else (stem,)


def _is_counter(unit: str) -> bool:
    return any(c.isnumeric() for c in unit) or (unit.isascii() and _COUNTER.fullmatch(unit) is not None)
