"""What can be handed over without a model: the sentences of the found passages that share most words with the question."""

import re
from collections import Counter
from collections.abc import Sequence

from app.domain.evidence import Passage, Quote
from retrieval.sentences import is_ideograph, split_sentences

MIN_CHARS = 30
MAX_CHARS = 700
_TERM = re.compile(r"[^\W_]{3,}|[\u3400-\u9fff]")


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
    return frozenset(_TERM.findall(text.casefold()))


def overlap(text: str, wanted: frozenset[str]) -> int:
    """How many of the wanted terms the text has."""
    return len(wanted & terms(text))


def best_sentence(passage: Passage, wanted: frozenset[str]) -> Quote | None:
    """The passage's sentence with most of the wanted terms, the first among equals; None when none has a fit length."""
    scores: Counter[tuple[int, int]] = Counter()
    for span in split_sentences(passage.text):
        sentence = passage.text[span.start : span.end]
        weight = 3 if any(map(is_ideograph, sentence[:8])) else 1
        if len(sentence) * weight >= MIN_CHARS and len(sentence) <= MAX_CHARS:
            scores[(span.start, span.end)] = overlap(sentence, wanted)
    if not scores:
        return None
    (start, end), _ = max(scores.items(), key=lambda item: (item[1], -item[0][0]))
    return Quote(source=passage.source, text=passage.text[start:end], start=passage.start + start, end=passage.start + end)
