"""Passages cut into sentences that keep their exact place in the snapshot."""

import re
from dataclasses import dataclass

from app.domain.evidence import Passage, Quote, Source
from retrieval.language.sentences import split_sentences
from workflows.agents.extractive.words import terms

_ROOM = r"\[(?:Laughter|Applause|Cheers|Boos|Inaudible|Pause|At this point[^\]]*)\]"
_ASIDE = re.compile(
    rf"(?:{_ROOM}\s+|(?:[-*+•·–—]|\d{{1,2}}[.)])\s+"
    r"|(?:BACKGROUND|CONTEXT|INTRODUCTION|RESULTS?|FINDINGS|MAIN RESULTS|CONCLUSIONS?|INTERPRETATION|SIGNIFICANCE|DISCUSSION)"
    r"(?:/[A-Z]+)?[:.]?\s+(?=[A-Z0-9]))+(?=\S)"
)
"""What a transcript tells of the room, the mark of a list and the label of an abstract's part stand before a sentence, and are
none of it."""
_ONLY_ROOM = re.compile(_ROOM)


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
    last: Sentence | None = None
    for span in split_sentences(passage.text):
        if _ONLY_ROOM.fullmatch(passage.text, span.start, span.end):
            last = None  # what comes after the applause is not joined to what came before
            continue
        aside = _ASIDE.match(passage.text, span.start, span.end)
        start = aside.end() if aside else span.start
        text = passage.text[start : span.end]
        last = _sentence(passage.source, text, passage.start + start, last)
        found.append(last)
    return found


def sentence_of(quote: Quote) -> Sentence:
    """A quotation seen as a sentence, so that it can be scored and compared."""
    return _sentence(quote.source, quote.text, quote.start, None)


def _sentence(source: Source, text: str, start: int, before: Sentence | None) -> Sentence:
    own = tuple(terms(text))
    return Sentence(source, text, start, start + len(text), own, frozenset(own), before)
