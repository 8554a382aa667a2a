"""Splitting passages into the units that a brief quotes, by their blocks, and what belongs together: a list, an answer."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from app.domain.blocks import Block, BlockKind
from app.domain.evidence import FormKind, Passage
from retrieval.language.back_references import points_back
from retrieval.language.blocks import FEWEST_WORDS, blocks_of, count_words
from retrieval.language.paragraphs import Span, split_lines
from retrieval.language.sentences import split_sentences_of
from workflows.agents.brief.units import Unit

LONGEST_SPEECH = 300
"""A quotation within a source is not cut before so many characters."""
_MAIL_MARK = re.compile(r"(?:>\s*)+")
_STAGE = re.compile(r"\[[^\[\]]*\]")
_FORMS = {
    BlockKind.PARAGRAPH: FormKind.SENTENCE,
    BlockKind.HEADING: FormKind.HEADING,
    BlockKind.ITEM: FormKind.ITEM,
    BlockKind.HEAD: FormKind.TABLE_HEAD,
    BlockKind.ROW: FormKind.ROW,
    BlockKind.CODE: FormKind.CODE,
}


def split_passages(passages: Iterable[Passage]) -> list[Unit]:
    """Return the units of all passages, each passage's in order."""
    return [unit for passage in passages for unit in split_passage(passage)]


def split_passage(passage: Passage) -> list[Unit]:
    """Return the units of a passage in order. What its blocks are is guessed where its reader did not tell.

    Headings are no units, unless there is nothing else. Nor are the lines that head a
    mail, nor the head of a table that gives no figure.
    """
    units: list[Unit] = []
    headings: list[Unit] = []
    heads: dict[int, Unit] = {}
    head: Unit | None = None
    for block in blocks_of(passage):
        own = [replace(unit, head=head) for unit in _split_block(passage, block)]
        match block.kind:
            case BlockKind.FIELD:
                head = None
            case BlockKind.HEADING:
                head = heads[block.start] = replace(own[0], head=heads.get(block.under or -1))  # 0 is the title of all
                headings += [head] if not block.text else []
            case BlockKind.HEAD:
                heads[block.start] = own[0]
                units += own if not block.text else []
            case BlockKind.ROW:
                table = heads.get(-1 if block.under is None else block.under)
                units += [replace(own[0], before=table if table and table.kind is FormKind.TABLE_HEAD else None)]
            case _:
                units += own
    return list(_group(_drop_heads(_link_back(units)))) or headings


def _link_back(units: Sequence[Unit]) -> list[Unit]:
    """Put the unit that a sentence points back to before it, under the same heading."""
    pairs = zip([None, *units], units, strict=False)
    return [
        replace(unit, before=last) if last and last.head == unit.head and unit.is_prose and points_back(unit.text) else unit
        for last, unit in pairs
    ]


def _split_block(passage: Passage, block: Block) -> list[Unit]:
    """Return the units of a block, which are several of prose and of code."""
    if block.text:  # it stands before the passage
        outside = passage.model_copy(update={"text": block.text, "start": block.start, "end": block.end, "blocks": (block,)})
        return [Unit(outside, 0, len(block.text), _FORMS[block.kind])]
    whole = Span(block.start - passage.start, block.end - passage.start)
    match block.kind:
        case BlockKind.HEADING | BlockKind.ROW | BlockKind.HEAD:
            spans: Sequence[Span] = [whole]
        case BlockKind.CODE:
            spans = list(split_lines(passage.text, whole))
        case BlockKind.ITEM | BlockKind.PARAGRAPH:
            spans = _join_short(passage.text, split_sentences_of(passage.text, whole))
        case _:
            return []
    rest = FormKind.CONTINUED if block.kind is BlockKind.ITEM else _FORMS[block.kind]
    return [Unit(passage, *span, rest if number else _FORMS[block.kind]) for number, span in enumerate(spans)]


def _drop_heads(units: Sequence[Unit]) -> list[Unit]:
    """Leave out the head of each table, which gives no figure: it comes with each row."""
    heads = {unit.before.place for unit in units if unit.kind is FormKind.ROW and unit.before}
    return [unit for unit in units if unit.place not in heads or any(map(str.isdigit, unit.text))]


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
        for unit in units[at:end]:
            item += unit.is_item or unit is first
            opener = first if first.opens and unit is not first else None
            yield replace(unit, before=unit.before or opener, group=group, item=item)
        at = end


def _find_end(units: Sequence[Unit], at: int) -> int:
    """Return where the list or the answer ends that begins with a unit, at the next heading at the latest."""
    first, end = units[at], at + 1
    last = at + len(list(takewhile(lambda unit: unit.head == first.head, units[at:])))
    if first.asks:
        while end < last and _is_answer(units, at, end):
            end += 1
    elif first.opens or first.is_item:
        while end < last and (units[end].is_item or units[end].kind is FormKind.CONTINUED):
            end += 1
        if end == at + 1 and first.opens and end < last and units[end].kind is not FormKind.ROW:
            end += 1
    return end


def _is_answer(units: Sequence[Unit], question: int, at: int) -> bool:
    """Say whether a unit is of the paragraph below a question."""
    return not units[at].asks and (at == question + 1 or is_same_paragraph(units[at - 1], units[at]))


def is_same_paragraph(unit: Unit, following: Unit) -> bool:
    """Say whether a unit is of the same paragraph as the one before it in its passage, and begins no item."""
    between = following.passage.text[unit.end : following.start]
    return following.is_prose and not following.is_item and "\n\n" not in between
