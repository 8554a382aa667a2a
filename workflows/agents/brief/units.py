"""The units of a passage that a brief quotes: sentences, items of a list, rows of a table and lines of code."""

import re
from dataclasses import dataclass
from enum import StrEnum

from app.domain.dates import MONTHS
from app.domain.evidence import FormKind, Passage, Quote, QuoteForm
from app.domain.script import count_ideographs
from retrieval.language.sentences import CELL
from retrieval.language.tokens import split_units

FEWEST_WORDS = 3
LONGEST_TITLE = 12
LONGEST_UNDATED = 4
"""The most words of a title beside its date or version: a longer line tells what happened then."""
NEAR_CHARS = 2
"""The most characters between two stretches of a source that stand together."""
MARK_CHARS = 12
"""The most characters from the end of an item of a list to the next: a blank line, and its mark with the spaces around it."""
IDEOGRAPHS_A_WORD = 1.6
"""Ideographs that say as much as an English word."""
_ENDS = re.compile(r"[.!?。！？…؟۔।:：;；][\"'”’」』）)\]]*$")
_CODE = re.compile(
    r"^\s*(?:[$>]\s|sudo\s)|\s--?[A-Za-z]|^[\w.]+\(.*\)\s*$|[{};]\s*$|^\s*[\w.\-]+\s*=\s*\S|(?:^|\s)[~.]?/\w[\w.\-]*/\S", re.ASCII
)
ITEM = re.compile(r"(?:[-–*•·◦]|\(?(?:\d{1,2}|[a-z])[.)])\s", re.IGNORECASE)
_MARK_BEFORE = re.compile(r"[-–*•·◦]\s+$")
NUMBER = re.compile(r"(\d{1,2})[.)]\s+")
CHAPTER = re.compile(r"(?:§\s*\d+(?:\.\d+)*|\d+(?:\.\d+)+)\.?\s+")
_NAMED = re.compile(r"[^\W\d_][:：]\s?\S")
_MONTH = rf"(?:{'|'.join(month[:3] for month in MONTHS)})[a-z]*"
_DAY = rf"\b\d{{1,2}}(?:st|nd|rd|th)?\.?(?= {_MONTH})|\b{_MONTH}\.? \d{{1,2}}\b"
_DATED = re.compile(
    rf"\[?\bv?\d+(?:\.\d+){{1,3}}\]?|\b(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?\b|\b(?:Q|H)[1-4]\b|{_DAY}", re.IGNORECASE
)
_BARE_NUMBER = re.compile(r"(?!(?:19|20)\d\d$)[^\w\s]{0,2}\d[\d.,:'’\s]*(?:%|[^\W\d]{1,3}|[€£$¥])?")
_REMARK_END = re.compile(r"\s*\([^()]*\)$")
_INNER_END = re.compile(r"[^\W\d]{3}[.!?]\s|[。！？]")
_GOES_ON = re.compile(r"\b(?:the|an?|of|and|or|than)$|[(（][^)）]*$", re.IGNORECASE)
_MARK_INSIDE = re.compile(r"[!?;。！？；\[\]]|[^\W\d]{2}\.|-$")
QUESTION = re.compile(r"[?？؟][\"'”’」』）)\]]*$")


class UnitKind(StrEnum):
    """The form of a unit in its source."""

    SENTENCE = "sentence"
    ROW = "row"
    CODE = "code"
    HEADING = "heading"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of a passage; `start` and `end` count characters of the passage's text.

    `before` is what a reader needs to understand it: the head of its table, the line that opens its list, or the sentence that it
    points back to. `head` is the heading that it stands under; of a heading, the numbered one above it. Units with the same
    `group` make a list, or the answer to a question that is a line of its own; those with the same `item` one item. 0: none.
    `heads` marks the first row of a table, `continues` a sentence of the item that another unit begins.
    """

    passage: Passage
    start: int
    end: int
    kind: UnitKind
    before: "Unit | None" = None
    head: "Unit | None" = None
    group: int = 0
    item: int = 0
    heads: bool = False
    continues: bool = False

    @property
    def heading(self) -> str:
        """The heading that the unit stands under, if any."""
        return self.head.text if self.head else ""

    @property
    def in_context(self) -> str:
        """The unit's text after its headings and the head of its table, or what opens its list; by their words it is ranked."""
        opened = self.before.text if self.before and (self.kind is UnitKind.ROW or self.before.opens) else ""
        chapter = self.head.heading if self.head else ""
        return ": ".join(filter(None, (chapter, self.heading, opened, self.text)))

    @property
    def opens(self) -> bool:
        """Whether it says nothing without what follows: a colon ends it, or it is a question in a line of its own."""
        return self.kind is UnitKind.SENTENCE and (self.text.endswith((":", "：")) or self.asks)

    @property
    def asks(self) -> bool:
        """Whether it is a short question in a line of its own."""
        text = self.passage.text
        alone = text[: self.start].rstrip(" ")[-1:] in ("", "\n") and text[self.end :].lstrip(" ")[:1] in ("", "\n")
        return alone and QUESTION.search(self.text) is not None and count_words(self.text) <= LONGEST_TITLE

    @property
    def is_item(self) -> bool:
        """Whether an item of a list begins with it, or it is a line of code."""
        marked = (
            ITEM.match(self.text)
            or CHAPTER.match(self.text)
            or _MARK_BEFORE.search(self.passage.text, max(0, self.start - MARK_CHARS), self.start)
        )
        return self.kind is UnitKind.CODE or (self.kind is UnitKind.SENTENCE and marked is not None)

    @property
    def form(self) -> QuoteForm:
        """Its form, for who lays it out without its source."""
        kind = FormKind.TABLE_HEAD if self.heads else FormKind(self.kind)
        if kind is FormKind.SENTENCE and (self.is_item or self.continues):
            kind = FormKind.CONTINUED if self.continues else FormKind.ITEM
        under = self.head.place[1] if self.head else None
        table = self.before.place[1] if kind is FormKind.ROW and self.before else None
        return QuoteForm(key=self.to_quote().key, kind=kind, under=under, table=table)

    @property
    def is_title(self) -> bool:
        """Whether it is a heading within a text, apart from what is before it; lines that a mail breaks look like headings too.

        The first line of a source is its title.
        """
        apart = self.passage.text[: self.start].rstrip(" \t")[-2:] in ("", "\n\n")
        marked = _MARK_INSIDE.search(self.text) is not None and not is_dated_title(self.text)
        return apart and self.place[1] > 0 and not marked

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
        _, start, end = self.place
        return Quote(source=self.passage.source, text=self.text, start=start, end=end)


def is_numbered(title: str) -> bool:
    """Say whether a title begins with the number of a chapter or a version."""
    return bool(CHAPTER.match(f"{title} ") or NUMBER.match(title))


def ends_sentence(text: str) -> bool:
    """Say whether a mark ends a text, as it does a sentence and what opens a list."""
    return _ENDS.search(text) is not None


def kind_of(text: str) -> UnitKind:
    """Tell the form of a unit by its text."""
    if CELL in text:
        return UnitKind.ROW
    if _CODE.search(text) and not _ENDS.search(text):
        return UnitKind.CODE
    if ITEM.match(text) or text.endswith((",", "，", "、")) or ",\n" in text:
        return UnitKind.SENTENCE
    words = count_words(text)
    titled = words <= LONGEST_TITLE and _is_title(_REMARK_END.sub("", text))
    return UnitKind.HEADING if words < FEWEST_WORDS or titled else UnitKind.SENTENCE


def may_be_head(row: str) -> bool:
    """Say whether a row may head a table: no cell is a bare number, but for a year."""
    return not any(_BARE_NUMBER.fullmatch(cell.strip()) for cell in row.split(CELL))


def is_label(text: str) -> bool:
    """Say whether a line like a title names something and says what it is ("Contact: A. Lund"), so that it may be an answer."""
    return _NAMED.search(text) is not None


def is_dated_title(text: str) -> bool:
    """Say whether a line would be a title but for its figures, and these are years, dates or versions."""
    undated = _DATED.sub("", text)
    return undated != text and count_words(undated) <= LONGEST_UNDATED and (not undated.strip(" -–()") or _is_title(undated))


def is_heading(text: str) -> bool:
    """Say whether a text by itself looks like a heading."""
    return kind_of(text) is UnitKind.HEADING


def count_words(text: str) -> float:
    """Count the words of a text; ideographs count as much as they say."""
    ideographs = count_ideographs(text)
    return len(split_units(text)) - ideographs + ideographs / IDEOGRAPHS_A_WORD


def _is_title(text: str) -> bool:
    """Say whether a short line is a heading: no mark ends it or all is in capitals, and it is no item and gives no figure.

    A line that a text file broke may look like one; it often ends with an article, or within brackets.
    """
    if ITEM.match(text) or ":\n" in text or any(map(str.isdigit, CHAPTER.sub("", f"{text} ", count=1))):
        return False
    return text.isupper() or not (_ENDS.search(text) or _INNER_END.search(text) or _GOES_ON.search(text))
