"""The units of a passage that a brief quotes: sentences, list items, rows of a table and lines of code."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby, pairwise

from app.domain.evidence import Passage, Quote
from app.domain.script import count_ideographs
from retrieval.building.chunking import CELL
from retrieval.language.paragraphs import Span
from retrieval.language.sentences import split_sentences
from retrieval.language.tokens import split_units

FEWEST_WORDS = 3
NEAR_CHARS = 2
"""The most characters between two stretches of a source that stand together."""
IDEOGRAPHS_A_WORD = 1.6
"""Ideographs that say as much as an English word."""
_ENDS = re.compile(r"[.!?。！？…؟۔।:：;；][\"'”’」』）)\]]*$")
_CODE = re.compile(
    r"^\s*(?:[$>]\s|sudo\s)|\s--?[A-Za-z]|^[\w.]+\(.*\)\s*$|[{};]\s*$|^\s*[\w.\-]+\s*=\s*\S|(?:^|\s)[~.]?/\w[\w.\-]*/\S", re.ASCII
)
_ITEM = re.compile(r"(?:[-–*•·◦]|\(?(?:\d{1,2}|[a-z])[.)])\s", re.IGNORECASE)
_BULLET = re.compile(r"[-–*•·◦]\s+")
NUMBERED = re.compile(r"\d{1,2}[.)]\s+")
_CHAPTER = re.compile(r"(?:§\s*)?\d+(?:\.\d+)+\.?\s+")
_POINTS_BACK = re.compile(
    r"(?:it|its|this|that|these|those|they|their|he|his|she|her|such|both|here|there|however|but|then)\b|[它他她]们?|[这那此其该]",
    re.IGNORECASE,
)


class UnitKind(StrEnum):
    """The form of a unit in its source."""

    SENTENCE = "sentence"
    ROW = "row"
    CODE = "code"
    HEADING = "heading"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of a passage; `start` and `end` count characters of the passage's text.

    `before` is what a reader needs to understand it: the head of its table, or the sentence that it points back to.
    """

    passage: Passage
    start: int
    end: int
    kind: UnitKind
    before: "Unit | None" = None
    heading: str = ""

    @property
    def in_context(self) -> str:
        """The unit's text after the heading that it stands under and the head of its table, by whose words it is ranked."""
        head = self.before.text if self.kind is UnitKind.ROW and self.before else ""
        return ": ".join(filter(None, (self.heading, head, self.text)))

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


def split_passages(passages: Iterable[Passage]) -> list[Unit]:
    """Return the units of all passages, each passage's in order. A table that a passage goes on with keeps its head."""
    found: dict[str, list[Unit]] = {}
    before: Passage | None = None
    for passage in sorted(passages, key=lambda each: (each.source.url, each.start)):
        goes_on = before is not None and before.source.url == passage.source.url and 0 <= passage.start - before.end <= NEAR_CHARS
        found[passage.key] = split_passage(passage, _find_head(found[before.key]) if before and goes_on else None)
        before = passage
    return [unit for passage in passages for unit in found[passage.key]]


def _find_head(units: Sequence[Unit]) -> Unit | None:
    """Return the head of the table with which a passage ends."""
    last = units[-1] if units else None
    return last.before if last is not None and last.kind is UnitKind.ROW else None


def split_passage(passage: Passage, table: Unit | None = None) -> list[Unit]:
    """Return the units of a passage in order; `table` is the head of the table that it may begin in the middle of.

    Headings are no units, unless there is nothing else, nor is the head of a table without its rows. The first row after other
    text, or of the whole source, is a head; that of a later passage only where it alone gives no figure.
    """
    units: list[Unit] = []
    headings: list[Unit] = []
    heading = ""
    last: Unit | None = None
    spans = list(_join_short(passage.text, split_sentences(passage.text)))
    texts = [passage.text[start:end] for start, end in spans]
    for (start, end), text, kind in zip(spans, texts, _find_kinds(texts), strict=True):
        if kind is UnitKind.HEADING:
            heading, table, last = text, None, None
            headings.append(Unit(passage, start, end, kind))
            continue
        start += len(text) - len(_BULLET.sub("", text, count=1))
        if kind is not UnitKind.ROW:
            table = None
        elif table is None and (start > 0 or passage.start == 0 or _gives_figures_below(texts)):
            table = Unit(passage, start, end, kind, heading=heading)
        before = last if kind is UnitKind.SENTENCE and _POINTS_BACK.match(text) else table
        unit = Unit(passage, start, end, kind, before, heading)
        units.append(unit if table is None or unit.place != table.place else table)
        last = unit
    return _drop_heads(units) or headings


def _drop_heads(units: Sequence[Unit]) -> list[Unit]:
    """Leave out the head of each table, which gives no figure: it comes with each row."""
    heads = {unit.before.place for unit in units if unit.kind is UnitKind.ROW and unit.before}
    return [unit for unit in units if unit.place not in heads or any(map(str.isdigit, unit.text))]


def _gives_figures_below(texts: Sequence[str]) -> bool:
    """Say whether the first of these lines has no figure and the second, a row too, has one."""
    first, *others = texts
    return not any(map(str.isdigit, first)) and any(CELL in text and any(map(str.isdigit, text)) for text in others[:1])


def _find_kinds(texts: Sequence[str]) -> list[UnitKind]:
    """Tell the forms of the lines of a passage.

    A line like a title is a heading where it stands alone, or first or last of several and before what it heads. The others of
    several, and those that a colon opens, are items of a list without marks.
    """
    beside = [[*texts[max(0, at - 1) : at], *texts[at + 1 : at + 2]] for at in range(len(texts))]
    kinds = [UnitKind.HEADING if _opens_section(text, near) else kind_of(text) for text, near in zip(texts, beside, strict=True)]
    for kind, run in groupby(range(len(texts)), key=lambda at: kinds[at]):
        titles = list(run)
        if kind is not UnitKind.HEADING or len(titles) == 1:
            continue
        first, last = titles[0], titles[-1]
        opened = first > 0 and texts[first - 1].endswith((":", "："))
        for at in titles:
            if not (at == first and not opened) and not (at == last and last + 1 < len(texts)):
                kinds[at] = UnitKind.SENTENCE
    return kinds


def _opens_section(text: str, beside: Sequence[str]) -> bool:
    """Say whether a numbered line is a heading rather than an item: a title, and no line beside it is numbered."""
    title = NUMBERED.sub("", text, count=1)
    return title != text and kind_of(title) is UnitKind.HEADING and not any(map(NUMBERED.match, beside))


def _join_short(text: str, sentences: Sequence[Span]) -> Iterator[Span]:
    """Yield sentences; one of a word or two ("Battery. See E31.") is joined with the next of its line."""
    start = -1
    for sentence, following in pairwise((*sentences, Span(len(text), len(text)))):
        start = sentence.start if start < 0 else start
        short = count_words(text[start : sentence.end]) < FEWEST_WORDS
        if short and following.start < len(text) and "\n" not in text[sentence.end : following.start]:
            continue
        yield Span(start, sentence.end)
        start = -1


def kind_of(text: str) -> UnitKind:
    """Tell the form of a unit by its text."""
    if CELL in text:
        return UnitKind.ROW
    if _CODE.search(text) and not _ENDS.search(text):
        return UnitKind.CODE
    words = count_words(text)
    return UnitKind.HEADING if words < FEWEST_WORDS or (words <= 12 and _is_title(text)) else UnitKind.SENTENCE


def count_words(text: str) -> float:
    """Count the words of a text; ideographs count as much as they say."""
    ideographs = count_ideographs(text)
    return len(split_units(text)) - ideographs + ideographs / IDEOGRAPHS_A_WORD


def _is_title(text: str) -> bool:
    """Say whether a short line is a heading: no mark ends it or all is in capitals, and it is no item and gives no figure."""
    if _ITEM.match(text) or ":\n" in text or any(map(str.isdigit, _CHAPTER.sub("", text, count=1))):
        return False
    return text.isupper() or not _ENDS.search(text)
