"""Evidence without a model: the sentences of the found passages that share most words with the question."""

from collections.abc import Sequence

from app.domain.evidence import Passage, Quote
from app.domain.script import is_ideograph
from retrieval.language.sentences import split_sentences
from retrieval.language.tokens import split_units

MIN_CHARS = 30
MAX_CHARS = 700


def salvage_quotes(passages: Sequence[Passage], question: str, most: int = 8) -> tuple[Quote, ...]:
    """Return the best sentence of each passage, in the order of the passages, at most `most`; no sentence twice."""
    wanted = terms_of(question)
    quotes: dict[str, Quote] = {}
    for passage in passages:
        quote = find_best_sentence(passage, wanted)
        if quote is not None and quote.text.casefold() not in quotes and len(quotes) < most:
            quotes[quote.text.casefold()] = quote
    return tuple(quotes.values())


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
