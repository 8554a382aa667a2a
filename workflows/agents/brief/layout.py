"""The layout of quotations: headings, paragraphs, lists, tables and commands as they are. No word of a source changes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from app.domain.citations import marker_of
from app.domain.evidence import FormKind, Quote, QuoteForm
from retrieval.language.sentences import CELL
from workflows.agents.brief.units import MARK_CHARS, is_short_question

_FLOWS = {FormKind.ITEM: FormKind.SENTENCE, FormKind.CONTINUED: FormKind.SENTENCE, FormKind.TABLE_HEAD: FormKind.ROW}
"""Forms that are laid out together with another."""
_ENDS_OPEN = re.compile(r"[,;，；、]$")
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#])")
_FINISHED = re.compile(r"[.!?:。！？：…؟۔।][\"”'’」』)）\]]*$")


class Piece(NamedTuple):
    """A quotation with its form; where that is not known, it is a row or a sentence."""

    quote: Quote
    kind: FormKind
    under: int | None = None
    table: int | None = None


class Run(NamedTuple):
    """Quotations of one form that are laid out together."""

    kind: FormKind
    pieces: Sequence[Piece]

    @property
    def is_heading(self) -> bool:
        """Whether what follows stands under it."""
        return self.kind is FormKind.HEADING


def lay_out(quotes: Sequence[Quote], forms: Iterable[QuoteForm] = ()) -> str:
    """Return quotations of one source as Markdown: best first as they come, but together what stands together there.

    What stands under a heading is one block, in the source's order; of a chapter, the best part comes first.
    """
    worth = {quote.key: rank for rank, quote in enumerate(quotes)}
    known = {form.key: form for form in forms}
    ordered = sorted(quotes, key=lambda quote: quote.start)
    pieces = _repeat_heads([_make_piece(quote, known) for quote in ordered])
    blocks = _join_sections([run for _, same in groupby(pieces, key=_find_place) for run in _split_pieces(list(same))])
    blocks = [block for block in blocks if not all(run.is_heading for run in block)] or blocks
    blocks.sort(key=lambda block: _find_worth(block, worth))
    return "\n\n".join(_lay_out_run(run) for block in blocks for run in _put_best_first(block, worth))


def _find_place(piece: Piece) -> tuple[FormKind, int]:
    """Return what neighbours must share to be laid out together: their form, and the heading that they stand under."""
    return _FLOWS.get(piece.kind, piece.kind), -1 if piece.under is None else piece.under


def _make_piece(quote: Quote, known: Mapping[str, QuoteForm]) -> Piece:
    form = known.get(quote.key)
    if form is None:
        return Piece(quote, FormKind.ROW if CELL in quote.text else FormKind.SENTENCE)
    return Piece(quote, form.kind, form.under, form.table)


def _join_sections(runs: Sequence[Run]) -> list[list[Run]]:
    """Join each heading with the runs below it; the others are blocks of their own."""
    blocks: list[list[Run]] = []
    for run in runs:
        if blocks and _is_below(run, blocks[-1]):
            blocks[-1].append(run)
        else:
            blocks.append([run])
    return blocks


def _put_best_first(block: Sequence[Run], worth: Mapping[str, int]) -> list[Run]:
    """Return a block with the parts below its first heading in order of worth: what answers may be the last part of a chapter."""
    parts: list[list[Run]] = []
    for run in block[1:]:
        if run.is_heading or not parts:
            parts.append([])
        parts[-1].append(run)
    return [block[0], *(run for part in sorted(parts, key=lambda part: _find_worth(part, worth)) for run in part)]


def _find_worth(block: Sequence[Run], worth: Mapping[str, int]) -> int:
    """Return the rank of the best quotation of a block. The head of a table may stand in several."""
    pieces = [piece for run in block for piece in run.pieces]
    own = [piece for piece in pieces if piece.kind is not FormKind.TABLE_HEAD] or pieces
    return min(worth[piece.quote.key] for piece in own)


def _is_below(run: Run, block: Sequence[Run]) -> bool:
    """Say whether a run stands under a heading of a block."""
    return run.pieces[0].under in {above.pieces[0].quote.start for above in block if above.is_heading}


def quote_text(quote: Quote, is_item: bool = False, is_whole: bool = False) -> str:
    """Return a quotation in quotation marks with its marker; an ellipsis where its sentence begins before or goes on.

    An item of a list is no part of a sentence. A unit of a source that `is_whole` goes on only after a comma or the like.
    """
    text = escape_markdown(quote.text)
    before = "… " if text[:1].islower() and not is_item else ""
    ends = not _ENDS_OPEN.search(quote.text) if is_whole else _FINISHED.search(quote.text)
    after = "" if is_item or ends else " …"
    return f"“{before}{text}{after}”{marker_of(quote)}"


def escape_markdown(text: str) -> str:
    """Return a text on one line that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _split_pieces(pieces: list[Piece]) -> list[Run]:
    kind, _ = _find_place(pieces[0])
    return [Run(kind, run) for run in _split_form(kind, pieces)]


def _split_form(kind: FormKind, pieces: list[Piece]) -> list[list[Piece]]:
    """Split sentences where others stand between them, and rows at the head of another table. Commands stay together."""
    match kind:
        case FormKind.ROW:
            return _split_tables(pieces)
        case FormKind.CODE:
            return [pieces]
        case FormKind.HEADING:
            return [[piece] for piece in pieces]
        case _:
            return _join_near(pieces)


def _split_tables(rows: Sequence[Piece]) -> list[list[Piece]]:
    """Split rows before each head of a table."""
    tables: list[list[Piece]] = [[]]
    for row in rows:
        if tables[-1] and row.kind is FormKind.TABLE_HEAD:
            tables.append([])
        tables[-1].append(row)
    return tables


def _repeat_heads(pieces: Sequence[Piece]) -> list[Piece]:
    """Put the head of a table before its rows under each heading that stands among them."""
    heads = {piece.quote.start: piece for piece in pieces if piece.kind is FormKind.TABLE_HEAD}
    with_rows = {piece.table for piece in pieces}
    given: list[Piece] = []
    for piece in pieces:
        if piece.quote.start in heads and piece.quote.start in with_rows:
            continue
        begins = not given or (given[-1].table, given[-1].under) != (piece.table, piece.under)
        if begins and piece.table in heads:
            given.append(heads[piece.table]._replace(under=piece.under, table=piece.table))
        given.append(piece)
    return given


def _lay_out_run(run: Run) -> str:
    pieces = run.pieces
    match run.kind:
        case _ if run.is_heading:
            return f"**{escape_markdown(pieces[0].quote.text)}** {marker_of(pieces[0].quote)}"
        case FormKind.ROW:
            return _lay_out_rows(pieces)
        case FormKind.CODE:
            quotes = [piece.quote for piece in pieces]
            return "\n".join(f"- {_as_code(line)} {marker_of(quote)}" for quote in quotes for line in quote.text.splitlines())
        case _ if _is_list(pieces):
            items = [" ".join(quote_text(piece.quote, is_item=True) for piece in item) for item in _split_items(pieces)]
            return "\n".join(f"- {item}" for item in items)
        case _:
            return " ".join(quote_text(each.quote, each.kind is FormKind.ITEM, is_whole=True) for each in pieces)


def _lay_out_rows(rows: Sequence[Piece]) -> str:
    """Return rows as a table, citations in its last column, if the first is a head; else as a list."""
    head, *others = [[escape_markdown(cell.strip()) for cell in _cells_of(row.quote).split(CELL)] for row in rows]
    marks = [marker_of(row.quote) for row in rows]
    if not others or rows[0].kind is not FormKind.TABLE_HEAD or any(len(cells) > len(head) for cells in others):
        texts = [escape_markdown(_cells_of(row.quote)).replace("\\|", "|") for row in rows]
        return "\n".join(f"- {text.strip()} {mark}" for text, mark in zip(texts, marks, strict=True))
    lines = [[*cells, *[""] * (len(head) - len(cells)), mark] for cells, mark in zip((head, *others), marks, strict=True)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cells_of(row: Quote) -> str:
    """Return a row without the strokes that open and close it in Markdown. A single stroke at an end bounds an empty cell."""
    opens, closes = row.text.startswith("| "), row.text.endswith(" |")
    text = row.text.removesuffix("|")
    return text[1:] if opens and closes else f" {text}" if opens else text


def _as_code(text: str) -> str:
    line = " ".join(text.split())
    return f"`` {line} ``" if "`" in line else f"`{line}`"


def _is_list(pieces: Sequence[Piece]) -> bool:
    """Say whether quotations that follow each other are items."""
    return len(pieces) > 1 and pieces[0].kind is FormKind.ITEM


def _split_items(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Group the sentences of each item of a list."""
    items: list[list[Piece]] = []
    for piece in pieces:
        if items and piece.kind is FormKind.CONTINUED:
            items[-1].append(piece)
        else:
            items.append([piece])
    return items


def _join_near(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Group quotations that follow each other in their source, at most with the mark of an item between them.

    A short question begins a group: what follows is mostly its answer. So do the first item of a list and a paragraph after it.
    """
    groups: list[list[Piece]] = []
    for piece in pieces:
        quote = piece.quote
        gap = quote.start - groups[-1][-1].quote.end if groups else 0
        if groups and gap <= MARK_CHARS and not is_short_question(quote.text) and not _is_another_form(groups[-1], piece, gap):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups


def _is_another_form(group: Sequence[Piece], piece: Piece, gap: int) -> bool:
    """Say whether items begin or end before a piece."""
    is_list = group[0].kind is FormKind.ITEM
    return piece.kind is not FormKind.CONTINUED and is_list != (piece.kind is FormKind.ITEM) and (not is_list or gap > 1)
