"""The layout of quotations: sentences as paragraphs, rows as tables, commands as code. No word of a source changes."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from app.domain.citations import marker_of
from app.domain.evidence import Quote, Source
from app.domain.query import Language
from workflows.agents.brief.units import CELL, UnitKind, kind_of

NEAR_CHARS = 2
"""The most characters between two quotations that stand in one paragraph."""
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#])")
_FINISHED = re.compile(r"[.!?:。！？：…][\"”'’」』)）\]]*$")


def lay_out(quotes: Iterable[Quote]) -> str:
    """Return quotations of one source as Markdown, in the order of its text."""
    ordered = sorted(quotes, key=lambda quote: quote.start)
    blocks = [_lay_out_kind(kind, list(same)) for kind, same in groupby(ordered, key=lambda quote: kind_of(quote.text))]
    return "\n\n".join(blocks)


def title_of(source: Source, language: Language) -> str:
    """Return a source's title with its author, unless the title names him, and its date."""
    author = source.author if source.author and source.author not in source.title else ""
    named = ": ".join(filter(None, (author, " ".join(source.title.split()))))
    day = format_date(source, language)
    return f"{named} ({day})" if day and day not in named else named


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


def _lay_out_kind(kind: UnitKind, quotes: Sequence[Quote]) -> str:
    if kind is UnitKind.ROW:
        return "\n\n".join(_lay_out_table(list(same)) for _, same in groupby(quotes, key=lambda q: q.text.count(CELL)))
    if kind is UnitKind.CODE:
        return "\n".join(f"- {_as_code(quote.text)} {marker_of(quote)}" for quote in quotes)
    return "\n\n".join(" ".join(map(quote_text, near)) for near in _join_near(quotes))


def _lay_out_table(rows: Sequence[Quote]) -> str:
    """Return rows with the same number of cells as a table. Its head is the first row where that has no figure."""
    cells = [[escape_markdown(cell) for cell in row.text.split(CELL)] for row in rows]
    for own, row in zip(cells, rows, strict=True):
        own[-1] = f"{own[-1]} {marker_of(row)}"
    headed = len(rows) > 1 and not any(map(str.isdigit, rows[0].text))
    head = cells[0] if headed else [""] * len(cells[0])
    lines = [head, ["---"] * len(head), *(cells[1:] if headed else cells)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _as_code(text: str) -> str:
    line = " ".join(text.split())
    return f"`` {line} ``" if "`" in line else f"`{line}`"


def _join_near(quotes: Sequence[Quote]) -> list[list[Quote]]:
    """Group quotations that follow each other in their source."""
    groups: list[list[Quote]] = []
    for quote in quotes:
        if groups and quote.start - groups[-1][-1].end <= NEAR_CHARS:
            groups[-1].append(quote)
        else:
            groups.append([quote])
    return groups
