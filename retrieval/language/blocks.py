"""The blocks of a text: guessed where nothing but the text is known, linked with what they stand under, and cut to a passage."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from app.domain.blocks import Block, BlockKind
from app.domain.dates import MONTHS
from app.domain.evidence import Passage
from app.domain.script import count_ideographs
from retrieval.language.paragraphs import Span, split_lines, split_paragraphs
from retrieval.language.sentences import CELL
from retrieval.language.tokens import split_units

FEWEST_WORDS = 3
LONGEST_TITLE = 12
LONGEST_UNDATED = 4
"""The most words of a title beside its date or version: a longer line tells what happened then."""
MANY_TITLES = 3
"""So many lines like titles below each other are mostly a list."""
IDEOGRAPHS_A_WORD = 1.6
"""Ideographs that say as much as an English word."""
LONGEST_HEAD = 300
"""A longer heading, or head of a table, is not told with the passages that stand under it."""
_ENDS = re.compile(r"[.!?。！？…؟۔।:：;；][\"'”’」』）)\]]*$")
_CODE = re.compile(
    r"^\s*(?:[$>]\s|sudo\s)|\s--?[A-Za-z]|^[\w.]+\(.*\)\s*$|[{};]\s*$|^\s*[\w.\-]+\s*=\s*\S|(?:^|\s)[~.]?/\w[\w.\-]*/\S", re.ASCII
)
_BULLET = re.compile(r"[-–*•·◦]\s+")
_ITEM = re.compile(r"(?:[-–*•·◦]|\(?(?:\d{1,2}|[a-z])[.)])\s", re.IGNORECASE)
_NUMBER = re.compile(r"(\d{1,2})[.)]\s+")
_CHAPTER = re.compile(r"(?:§\s*\d+(?:\.\d+)*|\d+(?:\.\d+)+)\.?\s+")
_MONTH = rf"(?:{'|'.join(month[:3] for month in MONTHS)})[a-z]*"
_DAY = rf"\b\d{{1,2}}(?:st|nd|rd|th)?\.?(?= {_MONTH})|\b{_MONTH}\.? \d{{1,2}}\b"
_DATED = re.compile(
    rf"\[?\bv?\d+(?:\.\d+){{1,3}}\]?|\b(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?\b|\b(?:Q|H)[1-4]\b|{_DAY}", re.IGNORECASE
)
_BARE_NUMBER = re.compile(r"(?!(?:19|20)\d\d$)[^\w\s]{0,2}\d[\d.,:'’\s]*(?:%|[^\W\d]{1,3}|[€£$¥])?")
_REMARK_END = re.compile(r"\s*\([^()]*\)$")
_INNER_END = re.compile(r"[^\W\d]{3}[.!?]\s|[。！？]")
_GOES_ON = re.compile(r"\b(?:the|an?|of|and|or|than)$|[(（][^)）]*$", re.IGNORECASE)
_FIELD = re.compile(r"\W*(?:From|To|Cc|Bcc|Date|Sent|Subject|Von|An|Betreff|Gesendet|De|À|Objet|发件人|收件人|日期|主题)\s?[:：]")
_NAMED = re.compile(r"[^\W\d_](?:[:：]\s|：)\S")
"""What names something and says what it is ("Contact: A. Lund") states it, though it looks like a title."""
_UNDERLINE = re.compile(r"\n\W+$")
_APART = re.compile(r"[ \t]*\n\W{0,99}\n\W{0,99}\w")
_NEAR = 99
_LONGEST_LINE = 240
"""A longer line is neither a title nor a command: strangers may have written any number of characters."""


class FoundBlock(NamedTuple):
    """A block before it is linked. `level` is that of a heading, 1 for the highest."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0


def blocks_of(passage: Passage) -> Sequence[Block]:
    """Return the blocks of a passage: what its reader told, guessed where it told nothing."""
    return passage.blocks or find_blocks(passage.text, passage.start)


def find_blocks(text: str, at: int = 0) -> list[Block]:
    """Guess the blocks of a text of which nothing is known, or of a passage `at` a place of it, which may begin in a table."""
    found = link_blocks(text, guess_blocks(text, 0, len(text)), begins_table=not at)
    shifted = (block._replace(under=None if block.under is None else block.under + at) for block in found)
    return [block._replace(start=block.start + at, end=block.end + at) for block in shifted]


def link_blocks(
    text: str, found: Iterable[FoundBlock], pages: Sequence[tuple[int, int]] = (), *, begins_table: bool = True
) -> tuple[Block, ...]:
    """Link blocks, in order, with what they stand under, and number their pages by where these begin.

    The first row of a table is its head if no cell is a bare number; but not one that goes on (`begins_table` is false) where a
    text begins. A heading among the rows leaves them their head.
    """
    linked: list[Block] = []
    above: list[FoundBlock] = []
    head: int | None = None
    is_table = not begins_table
    for one in found:
        if not any(map(str.isalnum, text[one.start : one.end])):
            continue  # a rule between rows, or a line of marks
        bullet = _BULLET.match(text, one.start, one.end) if one.kind is BlockKind.ITEM else None
        kind, start = one.kind, bullet.end() if bullet else one.start
        end = one.start + len(_UNDERLINE.sub("", text[one.start : one.end])) if kind is BlockKind.HEADING else one.end
        is_row = kind in (BlockKind.ROW, BlockKind.HEAD)
        if kind is BlockKind.FIELD:
            above.clear()
        while kind is BlockKind.HEADING and above and above[-1].level >= one.level:
            above.pop()
        if kind is BlockKind.ROW and not is_table and _may_be_head(text[one.start : one.end]):
            kind = BlockKind.HEAD
        head = None if kind is BlockKind.HEAD or not (is_row or kind is BlockKind.HEADING) else head
        under = head if is_row and head is not None else above[-1].start if above else None
        linked += _split_at_pages(Block(kind, start, end, under), pages)
        head, is_table = start if kind is BlockKind.HEAD else head, is_row
        above += [one] if kind is BlockKind.HEADING else []
    return tuple(linked)


def _split_at_pages(block: Block, pages: Sequence[tuple[int, int]]) -> Iterator[Block]:
    """Yield a block with its page, then what of it stands on later ones."""
    first = bisect_right(pages, block.start, key=lambda page: page[0])
    yield block._replace(page=pages[first - 1][1]) if first else block
    for at, page in pages[first:]:
        if at >= block.end:
            return
        yield block._replace(kind=BlockKind.NEXT_PAGE, start=at, page=page)


def cut_blocks(text: str, blocks: Sequence[Block], start: int, end: int) -> tuple[Block, ...]:
    """Return the blocks of `[start, end)`, cut to it, after those before it that they stand under, which get their text."""
    at = bisect_left(blocks, start, key=lambda block: block.start)
    while at and blocks[at - 1].end > start:
        at -= 1
    inside = []
    for block in blocks[at : bisect_left(blocks, end, key=lambda block: block.start)]:
        if block.end > start:
            inside.append(block._replace(start=max(start, block.start), end=min(end, block.end)))
    above: dict[int, Block] = {}
    for block in inside:
        under = block.under
        while under is not None and under < start and under not in above:
            above[under] = found = blocks[bisect_left(blocks, under, key=lambda block: block.start)]
            under = found.under
    told = (above[under]._replace(text=text[above[under].start : above[under].end]) for under in sorted(above))
    return (*(block for block in told if len(block.text) <= LONGEST_HEAD), *inside)


def guess_blocks(text: str, start: int, end: int) -> Iterator[FoundBlock]:
    """Guess the blocks of a stretch of a text by how its lines look. A line below an item in the same paragraph belongs to it.

    A numbered or dated heading is a chapter, under which the others stand.
    """
    stretch = text[start:end]
    lines = [line for paragraph in split_paragraphs(stretch) for line in split_lines(stretch, paragraph)]
    last: FoundBlock | None = None
    for line, kind in zip(lines, _find_kinds(stretch, lines), strict=True):
        said = stretch[line.start : line.end]
        if (
            kind is BlockKind.PARAGRAPH
            and last is not None
            and last.kind is BlockKind.ITEM
            and "\n\n" not in stretch[last.end : line.start]
        ):
            last = last._replace(end=line.end)
            continue
        if last is not None:
            yield last._replace(start=start + last.start, end=start + last.end)
        level = 1 if _is_numbered(said) or is_dated_title(said) else 2
        last = FoundBlock(kind, line.start, line.end, level)
    if last is not None:
        yield last._replace(start=start + last.start, end=start + last.end)


def _find_kinds(whole: str, spans: Sequence[Span]) -> list[BlockKind]:
    """Tell what the lines of a text are.

    A line like a title is a heading where it stands alone, or first or last of several and before what it heads. The others of
    several, and those that a colon opens, are items of a list without marks; so is the last of many unless it is very short or
    stands apart. What heads nothing because the text ends is none. A line of its own with a year or a version is one too.
    """
    texts = [whole[start:end] for start, end in spans]
    beside = [[*texts[max(0, at - 1) : at], *texts[at + 1 : at + 2]] for at in range(len(texts))]
    kinds = [BlockKind.HEADING if _opens_section(text, near) else kind_of(text) for text, near in zip(texts, beside, strict=True)]
    for at, span in enumerate(spans):
        titled = is_dated_title(texts[at]) or (span.start == 0 and _is_title_of_source(texts[at]))
        if kinds[at] is BlockKind.PARAGRAPH and titled and _stands_apart(whole, span):
            kinds[at] = BlockKind.HEADING
        elif kinds[at] is BlockKind.HEADING and not _begins_apart(whole, span) and kinds[at - 1] is not BlockKind.HEADING:
            kinds[at] = BlockKind.PARAGRAPH  # a mail broke the line
    for kind, run in groupby(range(len(texts)), key=lambda at: kinds[at]):
        titles = list(run)
        if kind is not BlockKind.HEADING:
            continue
        first, last = titles[0], titles[-1]
        if first == last:
            ends = last > 0 and last + 1 == len(texts) and not _is_short(texts[last])
            kinds[last] = BlockKind.PARAGRAPH if ends else kind
            continue
        apart = "\n\n" in whole[spans[last - 1].end : spans[last].start]
        heads = last + 1 < len(texts) and (len(titles) < MANY_TITLES or _is_short(texts[last]) or apart)
        opened = first > 0 and texts[first - 1].endswith((":", "："))
        for at in titles:
            dated = is_dated_title(texts[at]) and _stands_apart(whole, spans[at])
            if not (at == first and not opened) and not (at == last and heads) and not dated:
                kinds[at] = BlockKind.PARAGRAPH
    fields = [bool(_FIELD.match(text)) and any(map(_FIELD.match, near)) for text, near in zip(texts, beside, strict=True)]
    return [BlockKind.FIELD if is_field else kind for is_field, kind in zip(fields, kinds, strict=True)]


def _is_title_of_source(line: str) -> bool:
    """Say whether the first line of a text may be its title, which may give figures."""
    return len(line) <= _LONGEST_LINE and "\n" not in line and not _ENDS.search(line) and count_words(line) <= LONGEST_TITLE


def _stands_apart(text: str, span: Span) -> bool:
    """Say whether a line has blank lines on both sides, or the text's beginning before it."""
    return _begins_apart(text, span) and _APART.match(text, span.end) is not None


def _begins_apart(text: str, span: Span) -> bool:
    """Say whether a line has a blank line or the text's beginning before it."""
    return text[max(0, span.start - _NEAR) : span.start].rstrip(" \t")[-2:] in ("", "\n\n")


def _opens_section(text: str, beside: Sequence[str]) -> bool:
    """Say whether a numbered line is a heading rather than an item: a title, and no line beside it has the next number."""
    number = _NUMBER.match(text)
    if number is None or kind_of(text[number.end() :]) is not BlockKind.HEADING:
        return False
    others = [int(other.group(1)) for other in map(_NUMBER.match, beside) if other]
    return all(abs(other - int(number.group(1))) != 1 for other in others)


def kind_of(text: str) -> BlockKind:
    """Guess what a line is by its text alone."""
    if CELL in text:
        return BlockKind.ROW
    if len(text) > _LONGEST_LINE:
        return BlockKind.ITEM if _ITEM.match(text) or _CHAPTER.match(text) else BlockKind.PARAGRAPH
    if _CODE.search(text) and not _ENDS.search(text):
        return BlockKind.CODE
    if _ITEM.match(text):
        return BlockKind.ITEM
    if text.endswith((",", "，", "、")) or ",\n" in text:
        return BlockKind.PARAGRAPH
    titled = count_words(text) <= LONGEST_TITLE and _is_title(_REMARK_END.sub("", text))
    if (titled or _is_short(text)) and not _NAMED.search(text):
        return BlockKind.HEADING
    return BlockKind.ITEM if _CHAPTER.match(text) else BlockKind.PARAGRAPH


def is_dated_title(text: str) -> bool:
    """Say whether a line would be a title but for its figures, and these are years, dates or versions."""
    undated = _DATED.sub("", text[: _LONGEST_LINE + 1])
    return (
        len(text) <= _LONGEST_LINE
        and undated != text
        and count_words(undated) <= LONGEST_UNDATED
        and not _NAMED.search(text)
        and (not undated.strip(" -–()") or _is_title(undated))
    )


def count_words(text: str) -> float:
    """Count the words of a text; ideographs count as much as they say."""
    ideographs = count_ideographs(text)
    return len(split_units(text)) - ideographs + ideographs / IDEOGRAPHS_A_WORD


def _is_short(text: str) -> bool:
    return count_words(text) < FEWEST_WORDS


def _is_numbered(title: str) -> bool:
    """Say whether a title begins with the number of a chapter or a version."""
    return bool(_CHAPTER.match(f"{title} ") or _NUMBER.match(title))


def _may_be_head(row: str) -> bool:
    """Say whether a row may head a table: no cell is a bare number, but for a year."""
    return CELL in row and not any(_BARE_NUMBER.fullmatch(cell.strip(" |")) for cell in row.split(CELL))


def _is_title(text: str) -> bool:
    """Say whether a short line is a heading: no mark ends it or all is in capitals, and it is no item and gives no figure.

    A line that a text file broke may look like one; it often ends with an article, or within brackets.
    """
    if _ITEM.match(text) or ":\n" in text or any(map(str.isdigit, _CHAPTER.sub("", f"{text} ", count=1))):
        return False
    return text.isupper() or not (_ENDS.search(text) or _INNER_END.search(text) or _GOES_ON.search(text))
