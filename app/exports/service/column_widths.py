"""Divide a table's width among its columns."""

from collections.abc import Sequence

# A longer cell gives its column no more width: long cells wrap.
LONGEST_CELL = 60
SHORTEST_CELL = 4
# The most that a portrait page holds in small print before columns are too narrow to read.
WIDE_COLUMNS = 10
WIDE_WORDS = 118


def share_width(texts: Sequence[Sequence[str]]) -> tuple[float, ...]:
    """Return each column's share of the width, for rows of cell texts; the shares add up to 1.

    A column must hold its longest word, and gets more the more text it has to wrap.
    """
    columns = list(zip(*texts, strict=True))
    wants = [_longest_word_in(cells) + 0.7 * min(max(map(_width_of, cells)), LONGEST_CELL) for cells in columns]
    total = sum(wants)
    return tuple(want / total for want in wants)


def is_wide(texts: Sequence[Sequence[str]]) -> bool:
    """Return True when the table needs a landscape page: many columns, or long words in several."""
    columns = list(zip(*texts, strict=True))
    return len(columns) > WIDE_COLUMNS or sum(_longest_word_in(cells) + 3 for cells in columns) > WIDE_WORDS


def _longest_word_in(cells: Sequence[str]) -> float:
    words = [min(_width_of(word), LONGEST_CELL / 3) for cell in cells for word in cell.split()]
    return max([SHORTEST_CELL, *words])


def _width_of(text: str) -> float:
    """Return the width in Latin characters; an ideograph is two wide."""
    return sum(2 if c > "\u2e7f" else 1 for c in text)
