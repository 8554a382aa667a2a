"""The layout of quotations: headings, paragraphs, lists, tables and commands as they are. No word of a source changes."""

import re
from collections.abc import Sequence
from itertools import groupby, pairwise, zip_longest
from typing import NamedTuple

from app.domain.citations import marker_of
from app.domain.evidence import Quote, Source
from app.domain.query import Language
from retrieval.building.chunking import MAX_CHARS
from retrieval.language.sentences import CELL
from workflows.agents.brief.units import (
    CHAPTER,
    ITEM,
    LONGEST_TITLE,
    MARK_CHARS,
    NEAR_CHARS,
    NUMBER,
    QUESTION,
    UnitKind,
    count_words,
    is_numbered,
    kind_of,
)

_YEAR = re.compile(r"(?:19|20)\d\d")
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#])")
_FINISHED = re.compile(r"[.!?:。！？：…؟۔।][\"”'’」』)）\]]*$")


class Run(NamedTuple):
    """Quotations of one form that are laid out together."""

    kind: UnitKind
    quotes: Sequence[Quote]

    @property
    def is_heading(self) -> bool:
        """Whether what follows stands under it."""
        return self.kind is UnitKind.HEADING and len(self.quotes) == 1 and not self.quotes[0].text[0].islower()


def lay_out(quotes: Sequence[Quote]) -> str:
    """Return quotations of one source as Markdown: best first as they come, but together what stands together there.

    What stands under a heading is one block, in the source's order.
    """
    worth = {quote.key: rank for rank, quote in enumerate(quotes)}
    ordered = sorted(quotes, key=lambda quote: quote.start)
    kinds = {quote.key: _find_kind(quote, following) for quote, following in zip_longest(ordered, ordered[1:])}
    blocks = _join_sections(
        [
            Run(kind, run)
            for kind, same in groupby(ordered, key=lambda quote: kinds[quote.key])
            for run in _split_run(kind, list(same))
        ]
    )
    blocks.sort(key=lambda block: min(worth[quote.key] for run in block for quote in run.quotes))
    return "\n\n".join(_lay_out_run(run) for block in blocks for run in block)


def _find_kind(quote: Quote, following: Quote | None) -> UnitKind:
    """Tell the form of a quotation; a numbered line like a title is a heading before what does not have the next number."""
    number, after = NUMBER.match(quote.text), NUMBER.match(following.text) if following else None
    if number is None or following is None or (after and int(after.group(1)) == int(number.group(1)) + 1):
        return kind_of(quote.text)
    untitled = kind_of(quote.text[number.end() :]) is not UnitKind.HEADING
    return kind_of(quote.text) if untitled else UnitKind.HEADING


def _join_sections(runs: Sequence[Run]) -> list[list[Run]]:
    """Join each heading with the runs below it; the others are blocks of their own."""
    blocks: list[list[Run]] = []
    for run in runs:
        headed = bool(blocks) and blocks[-1][0].is_heading and run.quotes[0].start - blocks[-1][-1].quotes[-1].end <= MAX_CHARS
        if headed and not run.is_heading:
            blocks[-1].append(run)
        else:
            blocks.append([run])
    return blocks


def title_of(source: Source, language: Language) -> str:
    """Return a source's title with its author and its date, unless the title names them."""
    author = source.author if source.author and source.author not in source.title else ""
    named = ": ".join(filter(None, (author, " ".join(source.title.split()))))
    day = format_date(source, language)
    return f"{named} ({day})" if source.published and str(source.published.year) not in named else named


def format_date(source: Source, language: Language) -> str:
    """Return month and year of publication; the year alone for a first of January, which stands for an unknown day."""
    published = source.published
    if published is None:
        return ""
    if (published.month, published.day) == (1, 1):
        return str(published.year)
    return f"{published.year}年{published.month}月" if language is Language.CHINESE else f"{published:%Y-%m}"


def quote_text(quote: Quote, is_item: bool = False) -> str:
    """Return a quotation in quotation marks with its marker; an ellipsis where its sentence begins before or goes on.

    An item of a list is no part of a sentence.
    """
    text = escape_markdown(quote.text)
    before = "… " if text[:1].islower() and not is_item else ""
    after = "" if is_item or _FINISHED.search(quote.text) else " …"
    return f"“{before}{text}{after}”{marker_of(quote)}"


def escape_markdown(text: str) -> str:
    """Return a text on one line that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _split_run(kind: UnitKind, quotes: Sequence[Quote]) -> list[list[Quote]]:
    """Split sentences where others stand between them, and rows at the head of another table. Commands stay together."""
    match kind:
        case UnitKind.ROW:
            return _split_tables(quotes)
        case UnitKind.CODE:
            return [list(quotes)]
        case UnitKind.HEADING:
            return [part for group in _join_near(quotes) for part in _split_chapter(group)]
        case _:
            return _join_near(quotes)


def _split_chapter(titles: list[Quote]) -> list[list[Quote]]:
    """Split a numbered heading from the one below it; other lines like titles that follow each other are a list."""
    first, *others = titles
    return [[first], others] if others and is_numbered(first.text) else [titles]


def _split_tables(rows: Sequence[Quote]) -> list[list[Quote]]:
    """Split rows before each that looks like a head, since it gives no figure and the next does, away from the row before it."""
    tables: list[list[Quote]] = [[]]
    for row, following in zip_longest(rows, rows[1:]):
        apart = bool(tables[-1]) and row.start - tables[-1][-1].end > NEAR_CHARS
        if apart and _is_head(row) and following is not None and not _is_head(following):
            tables.append([])
        tables[-1].append(row)
    return tables


def _is_head(row: Quote) -> bool:
    """Say whether a row may be a head: it gives no figure but years."""
    return not any(map(str.isdigit, _YEAR.sub("", row.text)))


def _lay_out_run(run: Run) -> str:
    quotes = run.quotes
    match run.kind:
        case _ if run.is_heading:
            return f"**{escape_markdown(quotes[0].text)}** {marker_of(quotes[0])}"
        case UnitKind.ROW:
            return _lay_out_rows(quotes)
        case UnitKind.CODE:
            return "\n".join(f"- {_as_code(line)} {marker_of(quote)}" for quote in quotes for line in quote.text.splitlines())
        case _ if _is_list(quotes):
            return "\n".join(f"- {' '.join(quote_text(quote, is_item=True) for quote in item)}" for item in _split_items(quotes))
        case _:
            return " ".join(map(quote_text, quotes))


def _lay_out_rows(rows: Sequence[Quote]) -> str:
    """Return rows as a table, citations in its last column, if the first is a head, which gives no figure; else as a list."""
    head, *others = [[escape_markdown(cell) for cell in _cells_of(row).split(CELL)] for row in rows]
    if not others or not _is_head(rows[0]) or any(len(cells) > len(head) for cells in others):
        return "\n".join(f"- {escape_markdown(_cells_of(row))} {marker_of(row)}".replace("\\|", "|") for row in rows)
    lines = [[*cells, *[""] * (len(head) - len(cells)), marker_of(row)] for cells, row in zip((head, *others), rows, strict=True)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cells_of(row: Quote) -> str:
    """Return a row without the strokes that open and close it in Markdown."""
    return row.text.removeprefix("| ").removesuffix(" |")


def _as_code(text: str) -> str:
    line = " ".join(text.split())
    return f"`` {line} ``" if "`" in line else f"`{line}`"


def _is_list(quotes: Sequence[Quote]) -> bool:
    """Say whether quotations that follow each other are items: a mark stands between them, or one before each."""
    marked = any(after.start - before.end > NEAR_CHARS for before, after in pairwise(quotes))
    return len(quotes) > 1 and (marked or all(ITEM.match(quote.text) for quote in quotes))


def _split_items(quotes: Sequence[Quote]) -> list[list[Quote]]:
    """Group the sentences of each item of a list: nothing but a space or a line's end stands between them."""
    items: list[list[Quote]] = []
    for quote in quotes:
        if items and quote.start - items[-1][-1].end <= 1 and not ITEM.match(quote.text) and not CHAPTER.match(quote.text):
            items[-1].append(quote)
        else:
            items.append([quote])
    return items


def _join_near(quotes: Sequence[Quote]) -> list[list[Quote]]:
    """Group quotations that follow each other in their source, at most with the mark of an item between them.

    A short question begins a group: what follows is mostly its answer.
    """
    groups: list[list[Quote]] = []
    for quote in quotes:
        asks = QUESTION.search(quote.text) and count_words(quote.text) <= LONGEST_TITLE
        if groups and quote.start - groups[-1][-1].end <= MARK_CHARS and not asks:
            groups[-1].append(quote)
        else:
            groups.append([quote])
    return groups
