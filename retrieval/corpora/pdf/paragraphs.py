"""The paragraphs of a document: lines joined over the ends of lines, columns and pages, with footnotes after them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from app.domain.blocks import BlockKind
from app.domain.script import is_ideograph
from retrieval.corpora.marks import mark, mark_page
from retrieval.corpora.pdf.lines import Line
from retrieval.language.hyphens import Hyphenation, ends_in_hyphen
from retrieval.language.paragraphs import LIST_ITEM

_ENDED = re.compile(r"[.!?:;。！？：；][\"'”’»)\]]*$")
_LOWER = re.compile(r"[(\"'“‘«„]*[^\W\d_]")
_NOTE = re.compile(r"(?:\(?\d{1,3}[.):]?|[*†‡§¶∗]+|\[\d{1,3}\]|[a-z][.)])\s*\S")
_LEADER = re.compile(r"(?:[.·…]\s?){4,}\s*\S{1,6}$")
_SMALL = 0.93
_LIKE = 0.12
_MAX_LEADING = 2.2
_TALL = 1.45
_INDENT = 0.8
_NOTE_LINES = 12
_LARGE, _LARGEST = 1.15, 1.5
"""The size of the letters of a heading, and of one of the first level, beside those of the text."""
_TITLE_CHARS = 150
_CELL_GAP = 3.0


@dataclass
class _Placed:
    """A line in its column. `after` is what stands behind its paragraph: footnotes, and remarks of the page."""

    line: Line
    text: str
    column: int
    page: int
    left: float
    right: float
    leading: float
    after: list[str] = field(default_factory=list)


def write_paragraphs(
    pages: Iterable[Sequence[list[Line]]], remarks: Iterable[Sequence[str]], body_size: float, hyphenation: Hyphenation
) -> str:
    """Write the text of pages, each in columns, a blank line between paragraphs. A page's remarks follow its last one."""
    placed: list[_Placed] = []
    before: list[str] = []
    column = 0
    for page, (columns, further) in enumerate(zip(pages, remarks, strict=True), 1):
        after: list[str] = []
        for number, lines in enumerate(columns):
            body, notes = _split_notes(lines, body_size, is_first=number == 0)
            after += _join_notes(notes, hyphenation)
            placed += _place(body, column := column + 1, page)
        (placed[-1].after if placed else before).extend(mark_page(page, text) for text in (*after, *further))
    _take_open_notes(placed, hyphenation)
    return "\n\n".join([*before, *_join(placed, hyphenation, body_size)])


def _split_notes(lines: list[Line], body_size: float, is_first: bool) -> tuple[list[Line], list[Line]]:
    """Split a column into its text and the footnotes below it, in small letters with a mark."""
    start = len(lines)
    while start and lines[start - 1].size <= _SMALL * body_size and not lines[start - 1].row:
        start -= 1
    if start == 0 and is_first:
        return lines, []
    while start < len(lines) and not _NOTE.match(lines[start].text):
        start += 1
    return lines[:start], lines[start:]


def _join_notes(lines: list[Line], hyphenation: Hyphenation) -> list[str]:
    notes: list[str] = []
    for line in lines:
        text = line.text
        if not notes or (_NOTE.match(text) and _ENDED.search(notes[-1])):
            notes.append(text)
        else:
            notes[-1] = hyphenation.join(notes[-1], text)
    return notes


def _place(lines: list[Line], column: int, page: int) -> Iterator[_Placed]:
    if not lines:
        return
    size = median(line.size for line in lines)
    drops = [above.base - below.base for above, below in pairwise(lines)]
    leading = min(median(drops or [_MAX_LEADING * size]), _MAX_LEADING * size)
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    for line in lines:
        yield _Placed(line, line.text, column, page, left, right, leading)


def _take_open_notes(placed: list[_Placed], hyphenation: Hyphenation) -> None:
    """Move a note that stands within a sentence, which goes on in the next column, behind the sentence's paragraph."""
    starts = [place for place in range(1, len(placed)) if placed[place].column != placed[place - 1].column]
    for start in reversed(starts):
        if not (_begins_lower(placed[start].text) and _ENDED.search(placed[start - 1].text)):
            continue
        for place in range(start - 1, max(0, start - _NOTE_LINES), -1):
            same = placed[place].column == placed[place - 1].column == placed[start - 1].column
            if not same or placed[place].line.row:
                break
            if _NOTE.match(placed[place].text) and not _ENDED.search(placed[place - 1].text):
                notes = placed[place:start]
                further = [text for note in notes for text in note.after]
                joined = _join_notes([note.line for note in notes], hyphenation)
                placed[place - 1].after += [*(mark_page(notes[0].page, text) for text in joined), *further]
                del placed[place:start]
                break


def _join(placed: list[_Placed], hyphenation: Hyphenation, body_size: float) -> Iterator[str]:
    """Yield the paragraphs, marked with their pages, and as headings where their letters are large."""
    text = ""
    waiting: list[str] = []
    last: _Placed | None = None
    for item in placed:
        between = _between(last, item) if last else ""
        if last is None or between == "\n\n":
            yield from filter(None, (text, *waiting))
            is_large = item.line.size > _LARGE * body_size and len(item.text) <= _TITLE_CHARS and not item.line.row
            said = mark(BlockKind.HEADING, item.text, 1 + (item.line.size < _LARGEST * body_size)) if is_large else item.text
            text, waiting = mark_page(item.page, said), []
        else:
            text = hyphenation.join(text, item.text) if between == " " else text + between + item.text
            if last.page != item.page:
                text = text[: -len(item.text)] + mark_page(item.page, item.text)
        waiting += item.after
        last = item
    yield from filter(None, (text, *waiting))


def _between(last: _Placed, item: _Placed) -> str:
    """Return what stands between two lines: a space where the sentence goes on, a line's end, or a paragraph's."""
    if abs(last.line.size - item.line.size) > _LIKE * last.line.size:
        return "\n\n"
    if last.column != item.column:
        return " " if _goes_on(last, item) and not last.line.row and not item.line.row else "\n\n"
    drop = last.line.base - item.line.base
    if drop > _TALL * max(last.leading, last.line.size):
        return "\n\n"
    if last.line.row or item.line.row:
        return "\n"
    if _is_indented(item) and not _is_indented(last) and not _begins_lower(item.text):
        return "\n\n"
    if _goes_on(last, item):
        return " "
    return " " if _is_full(last, item) and not LIST_ITEM.match(item.text) else "\n"


def _goes_on(last: _Placed, item: _Placed) -> bool:
    """Say whether a sentence that has not ended goes on."""
    if ends_in_hyphen(last.text):
        return True
    return not _ENDED.search(last.text) and (_begins_lower(item.text) or _is_full(last, item))


def _begins_lower(text: str) -> bool:
    found = _LOWER.match(text)
    return found is not None and (found[0][-1].islower() or is_ideograph(found[0][-1])) and not LIST_ITEM.match(text)


def _is_full(last: _Placed, item: _Placed) -> bool:
    """Say whether the next line's first word had no room in this one. After a form's value, or in a row, the rest is free."""
    if last.line.pieces[-1].filled or last.line.widest_gap > _CELL_GAP * last.line.size or _LEADER.search(last.text):
        return False
    first = item.text[:1] if is_ideograph(item.text[:1]) else item.text.split(" ", 1)[0]
    width = (item.line.right - item.line.left) * (len(first) + 1) / max(len(item.text), 1)
    return last.line.right + width > last.right


def _is_indented(item: _Placed) -> bool:
    return item.line.left - item.left > _INDENT * item.line.size
