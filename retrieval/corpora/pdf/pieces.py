"""The pieces of a page's text, with their place and size, from the letters that PDFium finds."""

import ctypes
import math
from collections import Counter
from typing import NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

_SAME_BASE, _SAME_SIZE = 0.1, 0.15
_WORD_GAP = 0.22
_INK = 0.02
PLANE = 0xF0000
"""A letter without a name is the character of its font's code in this private plane."""

Box = tuple[float, float, float, float]
"""Left, bottom, right and top of a place on a page, in points."""


class Piece(NamedTuple):
    """Letters that stand together. Lengths are in points, `base` is the height of the baseline.

    `spaced` says that a space stands before it, `filled` that it is the value of a form's field. `unnamed` is the font that does
    not name a letter of it, None where all have names.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    spaced: bool = False
    filled: bool = False
    unnamed: str | None = None


class PageText(NamedTuple):
    """The text of a page: pieces in its main direction, which is `turn` quarters from upright, and all else as `turned`."""

    pieces: list[Piece]
    turn: int
    turned: str


class _Letter(NamedTuple):
    character: str
    box: Box
    origin: tuple[float, float]
    size: float
    turn: int | None
    """Quarter turns against the page, None between them."""
    unnamed: str | None


def read_pieces(text: pypdfium2.PdfTextPage) -> PageText:
    """Read the pieces of a page."""
    letters = _read_letters(text)
    seen = [letter for letter in letters if letter.character.strip()]
    turns = Counter(letter.turn for letter in seen if letter.turn is not None)
    main = max(turns, key=turns.__getitem__, default=0) or 0
    upright = [letter for letter in letters if letter.turn == main or not letter.character.strip()]
    turned = "".join(letter.character for letter in letters if letter.turn != main or not letter.character.strip())
    return PageText(_join_letters(upright, main), main, " ".join(turned.split()))


def turn_box(left: float, bottom: float, right: float, top: float, turn: int) -> Box:
    """Return a box as it stands when the page is turned so that its text is upright."""
    match turn:
        case 1:
            return bottom, -right, top, -left
        case 2:
            return -right, -top, -left, -bottom
        case 3:
            return -top, left, -bottom, right
    return left, bottom, right, top


def _read_letters(text: pypdfium2.PdfTextPage) -> list[_Letter]:
    """Return the letters in the file's order."""
    box, matrix, x, y = pdfium.FS_RECTF(), pdfium.FS_MATRIX(), ctypes.c_double(), ctypes.c_double()
    letters = []
    for index in range(text.count_chars()):
        code = pdfium.FPDFText_GetUnicode(text, index)
        pdfium.FPDFText_GetLooseCharBox(text, index, box)
        pdfium.FPDFText_GetCharOrigin(text, index, x, y)
        pdfium.FPDFText_GetMatrix(text, index, matrix)
        size = pdfium.FPDFText_GetFontSize(text, index) * math.hypot(matrix.c, matrix.d)
        place = (box.left, box.bottom, box.right, box.top)
        named = pdfium.FPDFText_HasUnicodeMapError(text, index) != 1 and not _is_private(code)
        character, font = (_character_of(code), None) if named else (chr(PLANE + (code & 0xFFFF)), _read_font(text, index))
        if not named and not 0x20 < code < 0x7F and _is_blank(text, index, size):
            character, font = " ", None
        letters.append(_Letter(character, place, (x.value, y.value), size, _turn_of(matrix), font))
    return letters


def _is_private(code: int) -> bool:
    return code == 0 or 0xE000 <= code < 0xF900 or code in (0xFFFD, 0xFFFE, 0xFFFF) or code >= PLANE


def _is_blank(text: pypdfium2.PdfTextPage, index: int, size: float) -> bool:
    """Say whether a letter has no ink: many fonts do not name their space."""
    left, bottom, right, top = text.get_charbox(index)
    return bool(min(right - left, top - bottom) < _INK * size)


def _read_font(text: pypdfium2.PdfTextPage, index: int) -> str:
    name = ctypes.create_string_buffer(128)
    pdfium.FPDFText_GetFontInfo(text, index, name, len(name), None)
    return name.value.decode(errors="replace")


def _character_of(code: int) -> str:
    match code:
        case 0x02:  # PDFium's sign for a hyphen, also a soft one, that a line ends with
            return "-"
        case 0x0A | 0x0D:  # PDFium's own, where it sees a line end: also before a raised number
            return "\n"
    return chr(code) if code > 0x20 else " "


def _turn_of(matrix: pdfium.FS_MATRIX) -> int | None:
    quarters = math.atan2(matrix.b, matrix.a) / (math.pi / 2)
    return round(quarters) % 4 if abs(quarters - round(quarters)) < 0.1 else None


def _join_letters(letters: list[_Letter], turn: int) -> list[Piece]:
    pieces: list[Piece] = []
    spaced = apart = False
    for letter in letters:
        if not letter.character.strip():
            apart, spaced = True, spaced or letter.character == " "
            continue
        left, _, right, _ = turn_box(*letter.box, turn)
        x, y = letter.origin
        base = turn_box(x, y, x, y, turn)[1]
        piece = Piece(letter.character, left, right, base, letter.size or 1.0, spaced, unnamed=letter.unnamed)
        if pieces and not apart and _continues(pieces[-1], piece):
            last = pieces[-1]
            pieces[-1] = last._replace(
                text=last.text + piece.text,
                left=min(last.left, piece.left),
                right=max(last.right, piece.right),
                unnamed=piece.unnamed if last.unnamed is None else last.unnamed,
            )
        else:
            pieces.append(piece)
        spaced = apart = False
    return pieces


def _continues(last: Piece, piece: Piece) -> bool:
    """Say whether a letter belongs to a piece: on its baseline, of its size, and beside it on either side (Hebrew runs left)."""
    level = abs(last.base - piece.base) <= _SAME_BASE * last.size
    alike = abs(last.size - piece.size) <= _SAME_SIZE * last.size
    gap = max(piece.left - last.right, last.left - piece.right)
    return level and alike and gap < _WORD_GAP * last.size
