"""The lines of a page or of a column: pieces on one baseline, with raised and lowered numbers."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from statistics import median
from unicodedata import bidirectional

from retrieval.corpora.pdf.pieces import Piece

_SMALL = 0.87
_LEVEL = 0.2
_RISE = 0.1
_NEAR = 0.7
_SPACE = 0.2
_CAPITAL = 1.8
_EXPONENT = re.compile(r"[+\-−–]?\d{1,3}")
_STROKES = ("/", "⁄", "∕")
_RAISED_SIGN = re.compile(r"[*†‡§¶#∗]+|\d{1,3}(?:[,–-]\d{1,3})*,?|\[\d{1,3}\]|[a-h]")
_BASE_OF_A_POWER = re.compile(r"(?<![\d.,])10$|(?<![^\W\d_])(?:[b-zB-HJ-Zµσλπ]|[kcmdhµn]m|ft|mi|yd|in)$")


@dataclass
class Line:
    """A line of text. `size` is the size of most of its letters; `row` says that it is a row of a table."""

    pieces: list[Piece]
    base: float
    size: float
    row: bool = False
    left: float = field(init=False)
    right: float = field(init=False)

    def __post_init__(self) -> None:
        self.left, self.right = min(p.left for p in self.pieces), max(p.right for p in self.pieces)

    @cached_property
    def text(self) -> str:
        """The line's text, with spaces between its words."""
        return _write_line(self)

    @property
    def widest_gap(self) -> float:
        """The widest space between two of its pieces, in points."""
        return max((right.left - left.right for left, right in pairwise(self.pieces)), default=0.0)


def build_lines(pieces: Iterable[Piece]) -> list[Line]:
    """Put pieces on lines, from the top down. The large come first: a raised number belongs to the line that it touches."""
    found: list[tuple[float, float, list[Piece]]] = []
    for piece in sorted(_lift_capitals(list(pieces)), key=lambda p: (-round(p.size, 1), -p.base, p.left)):
        for base, size, members in reversed(found):
            if _belongs(piece, base, size, members):
                members.append(piece)
                break
        else:
            found.append((piece.base, piece.size, [piece]))
    lines = [Line(sorted(members, key=_middle_of), base, size) for base, size, members in found]
    return sorted(lines, key=lambda line: -line.base)


def _belongs(piece: Piece, base: float, size: float, members: list[Piece]) -> bool:
    rise = piece.base - base
    if abs(rise) <= _LEVEL * min(piece.size, size):
        return True
    if piece.size > _SMALL * size or not -0.4 * size < rise < 0.8 * size:
        return False
    return any(max(piece.left - other.right, other.left - piece.right) < _NEAR * size for other in members)


def _middle_of(piece: Piece) -> float:
    return piece.left + piece.right


def _lift_capitals(pieces: list[Piece]) -> list[Piece]:
    """Put a large initial, which stands beside several lines, on the first of them."""
    usual = median(piece.size for piece in pieces) if pieces else 0.0
    return [_lift(piece, pieces, usual) if _is_initial(piece, usual) else piece for piece in pieces]


def _is_initial(piece: Piece, usual: float) -> bool:
    return len(piece.text) == 1 and piece.text.isalpha() and piece.size > _CAPITAL * usual


def _lift(initial: Piece, pieces: list[Piece], usual: float) -> Piece:
    lowest, highest = initial.base - 0.2 * usual, initial.base + 0.75 * initial.size
    near = [p for p in pieces if p.size <= 1.2 * usual and 0 <= p.left - initial.right < 1.5 * usual]
    beside = [p for p in near if lowest <= p.base <= highest]
    if len({piece.base for piece in beside}) < 2:
        return initial
    first = max(beside, key=lambda piece: (piece.base, -piece.left))
    return initial._replace(base=first.base, size=first.size, right=first.left)


def _write_line(line: Line) -> str:
    pieces = line.pieces
    if sum(_runs_left(p) for p in pieces) * 2 > len(pieces):
        pieces = pieces[::-1]
    written = ""
    last: Piece | None = None
    for number, piece in enumerate(pieces):
        gap = max(piece.left - last.right, last.left - piece.right) if last else 0.0
        rise = (piece.base - line.base) / line.size
        script = piece.size <= _SMALL * line.size and abs(rise) > _RISE
        following = pieces[number + 1].text if number + 1 < len(pieces) else ""
        text = _write_script(written, piece.text, rise, following) if script else piece.text
        if text is None:
            continue
        apart = piece.spaced or (gap > _SPACE * line.size and not script)
        written += f"{' ' if written and apart else ''}{text}"
        last = piece
    return written


def _runs_left(piece: Piece) -> bool:
    return any(bidirectional(letter) in ("R", "AL") for letter in piece.text)


def _write_script(before: str, text: str, rise: float, following: str) -> str | None:
    """Return what is written for a raised or lowered piece; None for the mark of a note, which belongs to no number or word."""
    if rise < 0:
        return f"_{text}" if before[-1:].isdigit() and text[:1].isdigit() else text
    if not before:
        return text
    if following[:1] in _STROKES:  # the half of a fraction
        return f" {text}" if before[-1].isdigit() else text
    if _EXPONENT.fullmatch(text) and (_BASE_OF_A_POWER.search(before) or (before[-1].isdigit() and not text[0].isdigit())):
        return f"^{text}"
    if _RAISED_SIGN.fullmatch(text):
        return None
    return text
