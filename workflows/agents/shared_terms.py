"""The words that texts share, and the sentence of a passage that shares most with a statement."""

from app.domain.evidence import Passage, Quote
from app.domain.script import is_ideograph
from retrieval.language.sentences import split_sentences
from retrieval.language.tokens import split_units

MIN_CHARS = 30
MAX_CHARS = 700


def terms_of(text: str) -> frozenset[str]:
    """Return the words of three letters or more and the single ideographs of a text, without case."""
    return frozenset(unit for unit in split_units(text.casefold()) if len(unit) > 2 or is_ideograph(unit))


def count_shared_terms(text: str, wanted: frozenset[str]) -> int:
    """Return how many of the wanted terms the text has."""
    return len(wanted & terms_of(text))


def find_best_sentence(passage: Passage, wanted: frozenset[str]) -> Quote | None:
    """Return the passage's first sentence with most of the wanted terms, or None when no sentence has a fit length."""
    best, most = None, -1
    for span in split_sentences(passage.text):
        sentence = passage.text[span.start : span.end]
        if _is_fit(sentence) and (shared := count_shared_terms(sentence, wanted)) > most:
            best, most = span, shared
    if best is None:
        return None
    text = passage.text[best.start : best.end]
    return Quote(source=passage.source, text=text, start=passage.start + best.start, end=passage.start + best.end)


def _is_fit(sentence: str) -> bool:
    """Say whether a sentence's length lets it stand alone. Ideographs weigh more than letters."""
    weight = 3 if any(map(is_ideograph, sentence[:8])) else 1
    return len(sentence) * weight >= MIN_CHARS and len(sentence) <= MAX_CHARS
