"""A quote widened to the sentences it was cut from, where the stored copy around it is at hand."""

from functools import lru_cache
from typing import NamedTuple

from app.domain.evidence import Quote
from retrieval.language.sentences import split_sentences


class Context(NamedTuple):
    """The stored copy just before and just after a quote."""

    before: str
    after: str


NOTHING_AROUND = Context("", "")


def sentences_around(quote: Quote, context: Context | None) -> list[str]:
    """The sentences of a quote, its first and last made whole."""
    before, after = context or NOTHING_AROUND
    return list(_widened(before, quote.text, after))


@lru_cache(maxsize=2_048)
def _widened(before: str, text: str, after: str) -> tuple[str, ...]:
    whole = before + text + after
    start, end = len(before), len(before) + len(text)
    touched = [whole[span.start : span.end] for span in split_sentences(whole) if span.start < end and span.end > start]
    return tuple(touched) or (text,)
