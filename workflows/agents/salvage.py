"""What can be handed over without a model: the sentences of the found passages that share most words with the question."""

from collections.abc import Sequence

from app.domain.evidence import Passage, Quote
from app.domain.script import is_ideograph
from retrieval.language.sentences import split_sentences
from retrieval.language.tokens import split_units

MIN_CHARS = 30
MAX_CHARS = 700


def salvage(passages: Sequence[Passage], question: str, most: int = 8) -> tuple[Quote, ...]:
    """At most one sentence a passage, best passages first in their order; no sentence twice."""
    wanted = terms(question)
    quotes: dict[str, Quote] = {}
    for passage in passages:
        quote = best_sentence(passage, wanted)
        if quote is not None and quote.text.casefold() not in quotes and len(quotes) < most:
            quotes[quote.text.casefold()] = quote
    return tuple(quotes.values())


def terms(text: str) -> frozenset[str]:
    """Words of three letters and more, and single ideographs, without case."""
    return frozenset(unit for unit in split_units(text.casefold()) if len(unit) > 2 or is_ideograph(unit))


def overlap(text: str, wanted: frozenset[str]) -> int:
    """How many of the wanted terms the text has."""
    return len(wanted.intersection(split_units(text.casefold())))


def best_sentence(passage: Passage, wanted: frozenset[str]) -> Quote | None:
    """The passage's sentence with most of the wanted terms, the first among equals; None when none has a fit length."""
    best, most = None, -1
    for span in split_sentences(passage.text):
        sentence = passage.text[span.start : span.end]
        if _is_fit(sentence) and (shared := overlap(sentence, wanted)) > most:
            best, most = span, shared
    if best is None:
        return None
    text = passage.text[best.start : best.end]
    return Quote(source=passage.source, text=text, start=passage.start + best.start, end=passage.start + best.end)


def _is_fit(sentence: str) -> bool:
    """Whether its length lets it stand alone. Ideographs say more."""
    weight = 1 if sentence[:8].isascii() or not any(map(is_ideograph, sentence[:8])) else 3
    return len(sentence) * weight >= MIN_CHARS and len(sentence) <= MAX_CHARS
