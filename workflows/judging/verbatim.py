"""Claims that are their source's own words: supported by construction, once equality is verified."""

import re
from collections.abc import Sequence
from functools import lru_cache

from app.domain.evidence import Quote
from retrieval.language.stems import stem_word
from retrieval.language.tokens import Word
from workflows.checks.polarity import NEGATION_REACH, is_negation

VERBATIM = "verbatim"
MOST_ADDED = 0.4
"""The share of a claim's words that may introduce the quotation: who says it, and where."""
LEAST_ADDED = 2
LEAST_CHARS = 12
_LETTERS = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r"[“\"「『]([^“”\"「」『』]+)(?:[”\"」』]|$)")
_QUOTED_FROM_THE_START = re.compile(r"([^“”\"「」『』]+)[”\"」』]")


def is_verbatim(claim: str, quotes: Sequence[Quote]) -> bool:
    """Whether the claim consists of its quotes, or of parts of them, with little around it but who said so."""
    own, said = _words(claim), [_words(quote.text) for quote in quotes]
    if any(_taken_from(own, source) for source in said):
        return True
    quoted = [_words(part) for part in _quoted(claim)]
    if any(len(part) >= LEAST_CHARS and not any(_taken_from(part, source) for source in said) for part in quoted):
        return False
    parts = quoted or [source for source in said if _taken_from(source, own)]
    return bool(parts) and _little_else(own, parts, quotes)


def _quoted(claim: str) -> list[str]:
    """What stands between quotation marks; the first may have been opened, and the last be closed, in another sentence."""
    first = _QUOTED_FROM_THE_START.match(claim)
    return [*([first.group(1)] if first else ()), *_QUOTED.findall(claim, first.end() if first else 0)]


def _taken_from(part: str, whole: str) -> bool:
    """Whether these words stand in the others together, and no negation stands just before them."""
    before, found, _ = f" {whole} ".partition(f" {part} ")
    near = before.split()[-NEGATION_REACH:]
    return bool(found) and len(part) >= LEAST_CHARS and not any(is_negation(Word(word, word)) for word in near)


def _little_else(claim: str, parts: Sequence[str], quotes: Sequence[Quote]) -> bool:
    about = " ".join(f"{quote.source.author} {quote.source.title} {quote.source.published or ''}" for quote in quotes)
    known, rest = set(_words(about).split()), claim
    for part in parts:
        rest = rest.replace(part, " ", 1)
    added = [word for word in rest.split() if word not in known and stem_word(word)]
    return len(added) <= max(LEAST_ADDED, MOST_ADDED * len(claim.split()))


@lru_cache(maxsize=1_024)
def _words(text: str) -> str:
    """Letters and digits alone, in lower case, so that typography does not count. Kept for the claims that cite one quote."""
    return " ".join(_LETTERS.findall(text.lower()))
