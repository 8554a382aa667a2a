"""Letters that their fonts do not name: until all pages are read they are private characters with the font's own codes."""

import re
from collections import defaultdict
from collections.abc import Iterable

from retrieval.corpora.pdf.pieces import PLANE, Piece
from retrieval.language.stop_words import SMALL_WORDS, STOP_WORDS

UNNAMED = "\ufffd"
_MARK = re.compile(f"[{chr(PLANE)}-{chr(PLANE + 0xFFFF)}]")
_SIGNS = range(0xF000, 0xF100)
"""Private characters of fonts of signs, which word processors take for the mark of an item."""
_SMALL_WORDS_SHARE = 0.1


def find_ascii_fonts(pieces: Iterable[Piece]) -> set[str]:
    """Return the fonts whose codes are those of ASCII by chance, as in old files: the words written in them are a language's."""
    words: dict[str, list[str]] = defaultdict(list)
    for piece in pieces:
        if piece.unnamed is not None:
            words[piece.unnamed].append(_MARK.sub(_read_ascii, piece.text).lower())
    return {font for font, said in words.items() if _is_language(said)}


def name_letters(piece: Piece, ascii_fonts: set[str]) -> Piece:
    """Write what the unnamed letters of a piece are, or `UNNAMED` for each."""
    if piece.unnamed is None:
        return piece
    if piece.unnamed in ascii_fonts:
        return piece._replace(text=_MARK.sub(_read_ascii, piece.text))
    begins_with_sign = ord(piece.text[0]) - PLANE in _SIGNS
    return piece._replace(text="•" * begins_with_sign + hide_letters(piece.text[begins_with_sign:]))


def hide_letters(text: str) -> str:
    """Write `UNNAMED` for each unnamed letter."""
    return _MARK.sub(UNNAMED, text)


def _read_ascii(mark: re.Match[str]) -> str:
    letter = chr(ord(mark[0]) & 0xFF)
    return letter if letter.isprintable() else UNNAMED


def _is_language(words: list[str]) -> bool:
    return sum(word in STOP_WORDS or word in SMALL_WORDS for word in words if len(word) > 1) > _SMALL_WORDS_SHARE * len(words)
