"""The layout of quotations: sentences as paragraphs, rows as tables, commands as code. No word of a source changes."""

import re
from collections.abc import Sequence
from itertools import groupby, pairwise, zip_longest

from app.domain.citations import marker_of
from app.domain.evidence import Quote, Source
from app.domain.query import Language
from retrieval.building.chunking import CELL
from workflows.agents.brief.units import NEAR_CHARS, NUMBERED, UnitKind, kind_of

MARK_CHARS = 5
"""The most characters from the end of an item of a list to the next: a blank line, and a mark of the list with its spaces."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#])")
_FINISHED = re.compile(r"[.!?:。！？：…؟۔।][\"”'’」』)）\]]*$")


def lay_out(quotes: Sequence[Quote]) -> str:
    """Return quotations of one source as Markdown: best first as they come, but together what stands together there."""
    worth = {quote.key: rank for rank, quote in enumerate(quotes)}
    ordered = sorted(quotes, key=lambda quote: quote.start)
    runs = [list(run) for _, same in groupby(ordered, key=lambda quote: kind_of(quote.text)) for run in _split_run(list(same))]
    runs.sort(key=lambda run: min(worth[quote.key] for quote in run))
    return "\n\n".join(map(_lay_out_run, runs))


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


def quote_text(quote: Quote) -> str:
    """Return a quotation in quotation marks with its marker; an ellipsis where its sentence begins before or goes on."""
    text = escape_markdown(quote.text)
    before = "… " if text[:1].islower() else ""
    after = "" if _FINISHED.search(quote.text) else " …"
    return f"“{before}{text}{after}”{marker_of(quote)}"


def escape_markdown(text: str) -> str:
    """Return a text on one line that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _split_run(quotes: Sequence[Quote]) -> list[list[Quote]]:
    """Split sentences where others stand between them, and rows at the head of another table. Commands stay together."""
    match kind_of(quotes[0].text):
        case UnitKind.SENTENCE:
            return _join_near(quotes)
        case UnitKind.ROW:
            return _split_tables(quotes)
        case _:
            return [list(quotes)]


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


def _lay_out_run(quotes: Sequence[Quote]) -> str:
    match kind_of(quotes[0].text):
        case UnitKind.ROW:
            return _lay_out_rows(quotes)
        case UnitKind.CODE:
            return "\n".join(f"- {_as_code(line)} {marker_of(quote)}" for quote in quotes for line in quote.text.splitlines())
        case _:
            return (
                "\n".join(f"- {quote_text(quote)}" for quote in quotes) if _is_list(quotes) else " ".join(map(quote_text, quotes))
            )


def _lay_out_rows(rows: Sequence[Quote]) -> str:
    """Return rows as a table where the first is its head, for it gives no figure; else as a list."""
    head, *others = [[escape_markdown(cell) for cell in _cells_of(row).split(CELL)] for row in rows]
    if not others or not _is_head(rows[0]) or any(len(cells) > len(head) for cells in others):
        return "\n".join(f"- {escape_markdown(_cells_of(row))} {marker_of(row)}".replace("\\|", "|") for row in rows)
    lines = [cells + [""] * (len(head) - len(cells)) for cells in (head, *others)]
    for cells, row in zip(lines, rows, strict=True):
        cells[-1] = f"{cells[-1]} {marker_of(row)}".strip()
    lines.insert(1, ["---"] * len(head))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cells_of(row: Quote) -> str:
    """Return a row without the strokes that open and close it in Markdown."""
    return row.text.removeprefix("| ").removesuffix(" |")


def _as_code(text: str) -> str:
    line = " ".join(text.split())
    return f"`` {line} ``" if "`" in line else f"`{line}`"


def _is_list(quotes: Sequence[Quote]) -> bool:
    """Say whether quotations that follow each other are items: a mark stands between them, or a number before each."""
    marked = any(after.start - before.end > NEAR_CHARS for before, after in pairwise(quotes))
    return len(quotes) > 1 and (marked or all(NUMBERED.match(quote.text) for quote in quotes))


def _join_near(quotes: Sequence[Quote]) -> list[list[Quote]]:
    """Group quotations that follow each other in their source, at most with the mark of an item between them."""
    groups: list[list[Quote]] = []
    for quote in quotes:
        if groups and quote.start - groups[-1][-1].end <= MARK_CHARS:
            groups[-1].append(quote)
        else:
            groups.append([quote])
    return groups
