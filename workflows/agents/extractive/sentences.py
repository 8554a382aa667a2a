"""Passages cut into sentences that keep their exact place in the snapshot."""

import re
from dataclasses import dataclass

from app.domain.evidence import Passage, Quote, Source
from retrieval.sentences import split_sentences
from workflows.agents.extractive.words import terms

_ASIDE = re.compile(r"\[(?:Laughter|Applause|Cheers|Boos|Inaudible|Pause|At this point[^\]]*)\]\s+(?=\S)")
"""What a transcript tells of the room stands before a sentence, and is none of it."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence `[start, end)` of a snapshot.

    `before` is the sentence in front of it in the same passage, where there is one.
    """

    source: Source
    text: str
    start: int
    end: int
    terms: tuple[str, ...]
    term_set: frozenset[str]
    before: "Sentence | None" = None

    @property
    def place(self) -> tuple[str, int]:
        """Snapshot and offset: the same sentence out of two passages has the same place."""
        return self.source.snapshot, self.start

    @property
    def quote(self) -> Quote:
        """This sentence as a quotation."""
        return Quote(source=self.source, text=self.text, start=self.start, end=self.end)


def sentences_of(passage: Passage) -> list[Sentence]:
    """The sentences of a passage, in order, with offsets into its snapshot."""
    found: list[Sentence] = []
    for span in split_sentences(passage.text):
        aside = _ASIDE.match(passage.text, span.start, span.end)
        start = aside.end() if aside else span.start
        text = passage.text[start : span.end]
        found.append(_sentence(passage.source, text, passage.start + start, found[-1] if found else None))
    return found


def sentence_of(quote: Quote) -> Sentence:
    """A quotation seen as a sentence, so that it can be scored and compared."""
    return _sentence(quote.source, quote.text, quote.start, None)


def _sentence(source: Source, text: str, start: int, before: Sentence | None) -> Sentence:
    own = tuple(terms(text))
    return Sentence(source, text, start, start + len(text), own, frozenset(own), before)
