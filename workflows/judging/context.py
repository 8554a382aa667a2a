"""Widening a quote to whole sentences, with the text around it in the stored copy."""

from typing import NamedTuple

from app.domain.evidence import Passage, Quote
from retrieval.language.sentences import split_sentences


class QuoteContext(NamedTuple):
    """The text of the stored copy just before and just after a quote."""

    before: str
    after: str


NO_CONTEXT = QuoteContext("", "")
AROUND_CHARS = 400
"""What a judge sees of the text on each side of a quote."""


def widen(quote: Quote, context: QuoteContext | None) -> Passage:
    """Return a quote with some of the text that stands around it in the stored copy."""
    before, after = context or NO_CONTEXT
    before, after = before[-AROUND_CHARS:], after[:AROUND_CHARS]
    start, text = quote.start - len(before), f"{before}{quote.text}{after}"
    return Passage(source=quote.source, text=text, start=start, end=start + len(text))


def list_sentences_around(quote: Quote, context: QuoteContext | None) -> list[str]:
    """Return the sentences of a quote; its first and last are completed from the context."""
    before, after = context or NO_CONTEXT
    whole = before + quote.text + after
    start, end = len(before), len(before) + len(quote.text)
    touched = [whole[span.start : span.end] for span in split_sentences(whole) if span.start < end and span.end > start]
    return touched or [quote.text]
