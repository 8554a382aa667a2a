"""Splitting passages into the units that a brief quotes, telling their forms, and what belongs together: a list, an answer."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, takewhile

from app.domain.evidence import Passage
from retrieval.language.back_references import points_back
from retrieval.language.paragraphs import Span
from retrieval.language.sentences import CELL, split_sentences
from workflows.agents.brief.units import (
    CHAPTER,
    FEWEST_WORDS,
    LONGEST_TITLE,
    NEAR_CHARS,
    NUMBER,
    Unit,
    UnitKind,
    count_words,
    ends_sentence,
    is_dated_title,
    is_label,
    is_numbered,
    kind_of,
    may_be_head,
)

MANY_TITLES = 3
"""So many lines like titles below each other are mostly a list."""
LONGEST_SPEECH = 300
"""A quotation within a source is not cut before so many characters."""
_BULLET = re.compile(r"[-–*•·◦]\s+")
_MAIL_MARK = re.compile(r"(?:>\s*)+")
_MAIL_HEADER = re.compile(
    r"\W*(?:From|To|Cc|Bcc|Date|Sent|Subject|Von|An|Betreff|Gesendet|De|À|Objet|发件人|收件人|日期|主题)\s?[:：]"
)
_APART = re.compile(r"[ \t]*\n\W*\n\W*\w")
_STAGE = re.compile(r"\[[^\[\]]*\]")


def split_passages(passages: Iterable[Passage]) -> list[Unit]:
    """Return the units of all passages, each passage's in order.

    A passage that follows another of its source keeps its heading, and the head of the table that it goes on with.
    """
    found: dict[str, list[Unit]] = {}
    before: Passage | None = None
    for passage in sorted(passages, key=lambda each: (each.source.url, each.start)):
        goes_on = before is not None and before.source.url == passage.source.url and 0 <= passage.start - before.end <= NEAR_CHARS
        last = found[before.key][-1:] if before and goes_on else []
        table = next((unit.before for unit in last if unit.kind is UnitKind.ROW), None)
        found[passage.key] = split_passage(passage, table, next((unit.head for unit in last), None))
        before = passage
    return [unit for passage in passages for unit in found[passage.key]]


def split_passage(passage: Passage, table: Unit | None = None, head: Unit | None = None) -> list[Unit]:
    """Return the units of a passage in order; it may begin under the heading `head`, in the middle of the table headed `table`.

    Headings are no units, unless they may be an answer by themselves or there is nothing else, nor is the title at the start of a
    source, nor are the lines that head a mail, nor the head of a table by itself.
    The first row after other text, or of the whole source, is a head if it may be one; of a later passage only where it alone
    gives no figure. A heading between the rows of a table leaves its head to those that follow.
    """
    units: list[Unit] = []
    headings: list[Unit] = []
    last: Unit | None = None
    known = table
    chapter = head if head and (is_numbered(head.text) or is_dated_title(head.text)) else head and head.head
    spans = _join_short(passage.text, split_sentences(passage.text))
    texts = [passage.text[start:end] for start, end in spans]
    kinds = _find_kinds(passage.text, spans)
    if kinds[:1] == [UnitKind.SENTENCE] and _is_title_of_source(passage, *spans[0]):
        kinds[0] = UnitKind.HEADING
    for (start, end), text, kind in zip(spans, texts, kinds, strict=True):
        if kind is None:
            head = table = known = last = chapter = None
            continue
        if kind is UnitKind.HEADING:
            is_chapter = is_numbered(text) or is_dated_title(text)
            head, table, last = Unit(passage, start, end, kind, head=None if is_chapter else chapter), None, None
            chapter = head if is_chapter else chapter
            headings.append(head)
            if is_label(text) and passage.start + start > 0:
                units.append(replace(head, kind=UnitKind.SENTENCE))
            continue
        if CHAPTER.match(text):  # a chapter or a clause whose title is not known as one
            chapter = None
        bullet = _BULLET.match(text)
        start += bullet.end() if bullet else 0
        if kind is not UnitKind.ROW:
            table = known = None
        elif table is None and not _is_row(last):
            opens = start > 0 or passage.start == 0 or _gives_figures_below(texts)
            is_head = opens and may_be_head(text)
            table = known = Unit(passage, start, end, kind, head=head, heads=True) if is_head else known
        before = last if kind is UnitKind.SENTENCE and points_back(text) else table
        unit = Unit(passage, start, end, kind, before, head)
        units.append(unit if table is None or unit.place != table.place else table)
        last = unit
    return list(_group(_drop_heads(units))) or headings


def _is_title_of_source(passage: Passage, start: int, end: int) -> bool:
    """Say whether a line is the title of its source, which may give figures: short, and apart from the text below it."""
    text = passage.text[start:end]
    titled = "\n" not in text and not ends_sentence(text) and count_words(text) <= LONGEST_TITLE
    return start == passage.start == 0 and titled and _APART.match(passage.text, end) is not None


def _is_row(unit: Unit | None) -> bool:
    return unit is not None and unit.kind is UnitKind.ROW


def _drop_heads(units: Sequence[Unit]) -> list[Unit]:
    """Leave out the head of each table, which gives no figure: it comes with each row."""
    heads = {unit.before.place for unit in units if unit.kind is UnitKind.ROW and unit.before}
    return [unit for unit in units if unit.place not in heads or any(map(str.isdigit, unit.text))]


def _gives_figures_below(texts: Sequence[str]) -> bool:
    """Say whether the first of these lines has no figure and all rows below it have one."""
    first, *others = texts
    rows = list(takewhile(lambda text: CELL in text, others))
    return bool(rows) and not any(map(str.isdigit, first)) and all(any(map(str.isdigit, row)) for row in rows)


def _find_kinds(whole: str, spans: Sequence[Span]) -> list[UnitKind | None]:
    """Tell the forms of the lines of a passage; None for those that head a mail, which are several together.

    A line like a title is a heading where it stands alone, or first or last of several and before what it heads. The others of
    several, and those that a colon opens, are items of a list without marks; so is the last of many unless it is very short or
    stands apart. What heads nothing because the passage ends is none. A line of its own with a year or a version is one too.
    """
    texts = [whole[start:end] for start, end in spans]
    beside = [[*texts[max(0, at - 1) : at], *texts[at + 1 : at + 2]] for at in range(len(texts))]
    kinds = [UnitKind.HEADING if _opens_section(text, near) else kind_of(text) for text, near in zip(texts, beside, strict=True)]
    for at, span in enumerate(spans):
        if kinds[at] is UnitKind.SENTENCE and is_dated_title(texts[at]) and _stands_apart(whole, span):
            kinds[at] = UnitKind.HEADING
        elif kinds[at] is UnitKind.HEADING and not _begins_line(whole, span):
            kinds[at] = UnitKind.SENTENCE
    for kind, run in groupby(range(len(texts)), key=lambda at: kinds[at]):
        titles = list(run)
        if kind is not UnitKind.HEADING:
            continue
        first, last = titles[0], titles[-1]
        if first == last:
            ends = last > 0 and last + 1 == len(texts) and not _is_short(texts[last])
            kinds[last] = UnitKind.SENTENCE if ends else kind
            continue
        clear = len(titles) < MANY_TITLES or _is_short(texts[last]) or _is_apart(whole, spans[last - 1], spans[last])
        heads = last + 1 < len(texts) and clear
        opened = first > 0 and texts[first - 1].endswith((":", "："))
        for at in titles:
            dated = is_dated_title(texts[at]) and _stands_apart(whole, spans[at])
            if not (at == first and not opened) and not (at == last and heads) and not dated:
                kinds[at] = UnitKind.SENTENCE
    is_header = [
        _MAIL_HEADER.match(text) and any(map(_MAIL_HEADER.match, near)) for text, near in zip(texts, beside, strict=True)
    ]
    return [None if heads else kind for heads, kind in zip(is_header, kinds, strict=True)]


def _stands_apart(text: str, span: Span) -> bool:
    """Say whether a line has blank lines on both sides, or the text's beginning before it."""
    before = text[: span.start].rstrip(" \t")
    return before[-2:] in ("", "\n\n") and _APART.match(text, span.end) is not None


def _begins_line(text: str, span: Span) -> bool:
    """Say whether nothing but marks stands before a text in its line."""
    return not any(map(str.isalnum, text[text.rfind("\n", 0, span.start) + 1 : span.start]))


def _is_apart(text: str, before: Span, span: Span) -> bool:
    return "\n\n" in text[before.end : span.start]


def _opens_section(text: str, beside: Sequence[str]) -> bool:
    """Say whether a numbered line is a heading rather than an item: a title, and no line beside it has the next number."""
    number = NUMBER.match(text)
    if number is None or kind_of(text[number.end() :]) is not UnitKind.HEADING:
        return False
    others = [int(other.group(1)) for other in map(NUMBER.match, beside) if other]
    return all(abs(other - int(number.group(1))) != 1 for other in others)


def _join_short(text: str, sentences: Iterable[Span]) -> Sequence[Span]:
    """Join what is no sentence by itself ("Battery.", "(AB)", a quotation that goes on) with what stands beside it in its line.

    Lines of marks, stage directions and the marks of quoted mail are left out.
    """
    joined: list[Span] = []
    for sentence in sentences:
        quoted = _MAIL_MARK.match(text, *sentence)
        own = Span(quoted.end() if quoted else sentence.start, sentence.end)
        said = text[own.start : own.end]
        if not any(map(str.isalnum, said)) or _STAGE.fullmatch(said):
            continue
        if joined and "\n" not in text[joined[-1].end : own.start] and (_is_short(said) or _goes_on(text[slice(*joined[-1])])):
            joined[-1] = Span(joined[-1].start, own.end)
        else:
            joined.append(own)
    return joined


def _is_short(text: str) -> bool:
    return count_words(text) < FEWEST_WORDS


def _goes_on(text: str) -> bool:
    """Say whether a text is too short to stand alone, or ends within quotation marks."""
    return _is_short(text) or (len(text) < LONGEST_SPEECH and _is_quoting(text))


def _is_quoting(text: str) -> bool:
    """Say whether a text ends within quotation marks."""
    return text.count("“") > text.count("”") or text.count('"') % 2 == 1


def _group(units: Sequence[Unit]) -> Iterator[Unit]:
    """Yield the units of a passage, numbered by lists and by items; what opens a list stands `before` each unit of it."""
    at = group = item = 0
    while at < len(units):
        first = units[at]
        end = _find_end(units, at)
        if end == at + 1:
            yield first
            at = end
            continue
        group += 1
        in_item = False
        for unit in units[at:end]:
            item += unit.is_item or unit is first
            opener = first if first.opens and unit is not first else None
            continues = in_item and not unit.is_item
            yield replace(unit, before=unit.before or opener, group=group, item=item, continues=continues)
            in_item = in_item or unit.is_item
        at = end


def _find_end(units: Sequence[Unit], at: int) -> int:
    """Return where the list or the answer ends that begins with a unit, at the next heading at the latest."""
    first, end = units[at], at + 1
    last = at + len(list(takewhile(lambda unit: unit.head == first.head, units[at:])))
    if first.asks:
        while end < last and _is_answer(units, at, end):
            end += 1
    elif first.opens or first.is_item:
        in_item = first.is_item
        while end < last and (units[end].is_item or (in_item and is_same_paragraph(units[end - 1], units[end]))):
            in_item = True
            end += 1
        if end == at + 1 and first.opens and end < last and units[end].kind is not UnitKind.ROW:
            end += 1
    return end


def _is_answer(units: Sequence[Unit], question: int, at: int) -> bool:
    """Say whether a unit is of the paragraph below a question."""
    return not units[at].asks and (at == question + 1 or is_same_paragraph(units[at - 1], units[at]))


def is_same_paragraph(unit: Unit, following: Unit) -> bool:
    """Say whether a unit is of the same paragraph as the one before it in its passage, and begins no item."""
    between = following.passage.text[unit.end : following.start]
    return following.kind is UnitKind.SENTENCE and not following.is_item and "\n\n" not in between
