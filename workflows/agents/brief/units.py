"""The units of a passage that a brief quotes: sentences, items of a list, rows of a table and lines of code."""

import re
from dataclasses import dataclass

from app.domain.evidence import FormKind, Passage, Quote, QuoteForm
from retrieval.language.blocks import LONGEST_TITLE, count_words

NEAR_CHARS = 2
"""The most characters between two stretches of a source that stand together."""
MARK_CHARS = 12
"""The most characters from the end of an item of a list to the next: a blank line, and its mark with the spaces around it."""
_QUESTION = re.compile(r"[?？؟][\"'”’」』）)\]]*$")
_PROSE = (FormKind.SENTENCE, FormKind.ITEM, FormKind.CONTINUED)


def is_short_question(text: str) -> bool:
    """Say whether a text is a question of few words."""
    return _QUESTION.search(text) is not None and count_words(text) <= LONGEST_TITLE


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of a passage; `start` and `end` count characters of the passage's text.

    `before` is what a reader needs to understand it: the head of its table, the line that opens its list, or the sentence that it
    points back to. `head` is the heading that it stands under; of a heading, the numbered one above it. Units with the same
    `group` make a list, or the answer to a question that is a line of its own; those with the same `item` one item. 0: none.
    """

    passage: Passage
    start: int
    end: int
    kind: FormKind
    before: "Unit | None" = None
    head: "Unit | None" = None
    group: int = 0
    item: int = 0

    @property
    def is_prose(self) -> bool:
        """Whether it is a sentence, of a list or not."""
        return self.kind in _PROSE

    @property
    def is_item(self) -> bool:
        """Whether an item of a list begins with it, or it is a line of code."""
        return self.kind in (FormKind.ITEM, FormKind.CODE)

    @property
    def heading(self) -> str:
        """The heading that the unit stands under, if any."""
        return self.head.text if self.head else ""

    @property
    def in_context(self) -> str:
        """The unit's text after its headings and the head of its table, or what opens its list; by their words it is ranked."""
        opened = self.before.text if self.before and (self.kind is FormKind.ROW or self.before.opens) else ""
        chapter = self.head.heading if self.head else ""
        return ": ".join(filter(None, (chapter, self.heading, opened, self.text)))

    @property
    def opens(self) -> bool:
        """Whether it says nothing without what follows: a colon ends it, or it is a question in a line of its own."""
        return self.is_prose and (self.text.endswith((":", "：")) or self.asks)

    @property
    def asks(self) -> bool:
        """Whether it is a short question in a line of its own."""
        text = self.passage.text
        alone = text[: self.start].rstrip(" ")[-1:] in ("", "\n") and text[self.end :].lstrip(" ")[:1] in ("", "\n")
        return alone and is_short_question(self.text)

    @property
    def form(self) -> QuoteForm:
        """Its form, for who lays it out without its source."""
        under = self.head.place[1] if self.head else None
        table = self.before.place[1] if self.kind is FormKind.ROW and self.before else None
        return QuoteForm(key=self.to_quote().key, kind=self.kind, under=under, table=table)

    @property
    def text(self) -> str:
        """The unit's text as its source has it."""
        return self.passage.text[self.start : self.end]

    @property
    def place(self) -> tuple[str, int, int]:
        """The place of the unit in its source, whichever passage brought it."""
        return self.passage.source.url, self.passage.start + self.start, self.passage.start + self.end

    def to_quote(self) -> Quote:
        """Return the unit as an exact quotation."""
        return self.passage.make_quote(self.start, self.end)
