"""How a table's width is shared among its columns."""

from collections.abc import Sequence

# Characters of text beyond which a longer cell earns its column no further width: long cells wrap.
LONGEST_CELL = 60
SHORTEST_CELL = 4
# What a portrait page carries in small print before columns get too narrow to read.
WIDE_COLUMNS = 10
WIDE_WORDS = 118


def shares(texts: Sequence[Sequence[str]]) -> tuple[float, ...]:
    """Each column's share of the width, for rows of cell texts; they add up to 1.

    A column must hold its longest word, and gets more the more text it has to wrap.
    """
    columns = list(zip(*texts, strict=True))
    wants = [_longest_word(cells) + 0.7 * min(max(map(_width, cells)), LONGEST_CELL) for cells in columns]
    total = sum(wants)
    return tuple(want / total for want in wants)


def wide(texts: Sequence[Sequence[str]]) -> bool:
    """Whether the table needs a page on its side: many columns, or long words in several."""
    columns = list(zip(*texts, strict=True))
    return len(columns) > WIDE_COLUMNS or sum(_longest_word(cells) + 3 for cells in columns) > WIDE_WORDS


def _longest_word(cells: Sequence[str]) -> float:
    words = [min(_width(word), LONGEST_CELL / 3) for cell in cells for word in cell.split()]
    return max([SHORTEST_CELL, *words])


def _width(text: str) -> float:
    """In Latin characters; an ideograph is two wide."""
    return sum(2 if c > "\u2e7f" else 1 for c in text)
