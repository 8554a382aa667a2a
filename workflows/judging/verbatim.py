"""Claims that are their source's own words: supported by construction, once equality is verified."""

import re
from collections.abc import Sequence

from app.domain.evidence import Quote
from workflows.checks.polarity import NEGATION_REACH, is_negation
from workflows.checks.words import Word, stem_of

VERBATIM = "verbatim"
MOST_ADDED = 0.4
"""The share of a claim's words that may introduce the quotation: who says it, and where."""
LEAST_CHARS = 12
_LETTERS = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r"[“\"「『]([^“”\"「」『』]+)(?:[”\"」』]|$)|^([^“”\"「」『』]+)[”\"」』]")


def is_verbatim(claim: str, quotes: Sequence[Quote]) -> bool:
    """Whether the claim is one of the quotes, or a part of one, with little around it but who said so."""
    own = _words(claim)
    return any(_same(own, claim, quote) for quote in quotes)


def _same(claim: str, text: str, quote: Quote) -> bool:
    said = _words(quote.text)
    if _taken_from(claim, said):
        return True
    for match in _QUOTED.finditer(text):
        inner = _words(match.group(1) or match.group(2))
        if _taken_from(inner, said):
            return _little_else(claim, inner, quote)
    return _taken_from(said, claim) and _little_else(claim, said, quote)


def _taken_from(part: str, whole: str) -> bool:
    """Whether these words stand in the others together, and no negation stands just before them."""
    before, found, _ = f" {whole} ".partition(f" {part} ")
    near = before.split()[-NEGATION_REACH:]
    return bool(found) and len(part) >= LEAST_CHARS and not any(is_negation(Word(word, word)) for word in near)


def _little_else(claim: str, inner: str, quote: Quote) -> bool:
    known = set(_words(f"{quote.source.author} {quote.source.title} {quote.source.published or ''}").split())
    rest = [word for word in claim.replace(inner, " ", 1).split() if word not in known and stem_of(word)]
    return len(rest) <= MOST_ADDED * len(claim.split()) or len(rest) <= 2


def _words(text: str) -> str:
    """Letters and digits alone, in lower case, so that typography does not count."""
    return " ".join(_LETTERS.findall(text.lower()))
