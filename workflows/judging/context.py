"""What a judge reads of a source beside a quote: the passage that it was chosen from, whole sentences, the text around it."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from app.domain.evidence import Passage, Quote
from retrieval.language.sentences import split_sentences
from workflows.agents.evidence_book import join_passages


class QuoteContext(NamedTuple):
    """The text of the stored copy just before and just after a quote."""

    before: str
    after: str


NO_CONTEXT = QuoteContext("", "")
AROUND_CHARS = 400
"""What a judge sees of the text on each side of a quote."""


def find_passages(quotes: Iterable[Quote], read: Iterable[Passage], around: Mapping[str, QuoteContext]) -> dict[str, Passage]:
    """Return the passage of each quote, by its key: the stretch that its writer read, else the quote with its surroundings."""
    of_copy: dict[str, list[Passage]] = {}
    for passage in join_passages(read):
        of_copy.setdefault(passage.source.snapshot, []).append(passage)
    found: dict[str, Passage] = {}
    for quote in quotes:
        whole = (passage for passage in of_copy.get(quote.source.snapshot, ()) if passage.holds(quote))
        key = quote.key
        found[key] = next(whole, None) or widen(quote, around.get(key))
    return found


def widen(quote: Quote, context: QuoteContext | None) -> Passage:
    """Return a quote with some of the text that stands around it in the stored copy."""
    before, after = context or NO_CONTEXT
    before, after = before[-AROUND_CHARS:], after[:AROUND_CHARS]
    start, text = quote.start - len(before), f"{before}{quote.text}{after}"
    return quote.to_passage().model_copy(update={"text": text, "start": start, "end": start + len(text)})


def list_sentences_around(quote: Quote, context: QuoteContext | None) -> list[str]:
    """Return the sentences of a quote; its first and last are completed from the context."""
    before, after = context or NO_CONTEXT
    whole = before + quote.text + after
    start, end = len(before), len(before) + len(quote.text)
    touched = [whole[span.start : span.end] for span in split_sentences(whole) if span.start < end and span.end > start]
    return touched or [quote.text]
