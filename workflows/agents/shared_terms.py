"""The words that texts share."""

from app.domain.script import is_ideograph
from retrieval.language.tokens import split_units


def terms_of(text: str) -> frozenset[str]:
    """Return the words of three letters or more and the single ideographs of a text, without case."""
    return frozenset(unit for unit in split_units(text.casefold()) if len(unit) > 2 or is_ideograph(unit))


def count_shared_terms(text: str, wanted: frozenset[str]) -> int:
    """Return how many of the wanted terms the text has."""
    return len(wanted & terms_of(text))
