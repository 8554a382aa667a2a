"""Which encoding of one byte a letter a text is in, by the letters that languages are written with.

Detection by frequencies confuses neighbours: it reads "Voilà, une crêpe" as "Voilŕ, une crępe". No language is written with those
letters beside its ç; French is with these. So every encoding is tried, and the one taken whose letters one language has, all of
them.
"""

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from typing import NamedTuple

ENCODINGS = (
    *("cp1252", "cp1250", "iso8859-2", "cp1254", "cp1257", "mac_roman", "mac_latin2"),
    *("cp1251", "koi8-r", "koi8-u", "iso8859-5", "cp866", "mac_cyrillic", "cp1253", "iso8859-7"),
)
"""Those in use, the more usual first; ISO 8859-1 and -9 are parts of cp1252 and cp1254."""
_CYRILLIC = "абвгдежзийклмнопрстуфхцчшщьюя"
_ALPHABETS = (
    *("", "àâæçéèêëîïôœùûüÿ", "äöüß", "áéíñóúü", "ãáâàçéêíóôõú", "àèéìíîòóù", "åäöé", "æøåéó", "äöåšž", "ëéèïöüóá"),
    *("áðéíóúýþæö", "ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîșțşţ", "čćđšž", "çğıöşüâîû"),
    *("āčēģīķļņšūž", "ąčęėįšųūž", "äõöüšž", "àèéíïòóúüç", "çë"),
    *(_CYRILLIC + "ыэёъ", _CYRILLIC + "іїєґ", _CYRILLIC + "ъ", _CYRILLIC + "ыэёіў", _CYRILLIC + "јљњћђџ", _CYRILLIC + "јљњѓќѕџ"),
    "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ",
)
_MARKS = frozenset("\xa0\xad«»„“”‚‘’‹›–—…•·°§©®™€£¥ªº¹²³½¼¾×±µ¡¿№´¨†‡‰")
_LETTERS = re.compile(r"[^\W\d_]+")
_GREEK = "\u0370"  # from here on it is Greek or Cyrillic, before it Latin
_SHARE = 0.02
"""Of the letters beyond ASCII: so many may be foreign, in names."""
_SAMPLE = 8_000


class Fit(NamedTuple):
    """How badly a reading fits the best language for it: the smaller the better, in this order.

    Shares of the letters and signs beyond ASCII, usual marks aside: those that this language does not have; places in words where
    none puts these letters together; and whether most are capitals.
    """

    foreign: float
    misplaced: float
    shouted: bool


def encoding_by_letters(content: bytes) -> str | None:
    """The encoding in which `content` is written with the letters of one language; None where there is none."""
    fits = {encoding: fit for encoding in ENCODINGS if (fit := _fit(content[:_SAMPLE], encoding)) is not None}
    best = min(fits, key=fits.__getitem__, default=None)
    return best if best and fits[best].foreign <= _SHARE and fits[best].misplaced <= _SHARE else None


def _fit(content: bytes, encoding: str) -> Fit | None:
    """None for what this encoding cannot hold."""
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return None
    beyond = Counter(char for char in text if char > "\x7f" and char not in _MARKS)
    foreign = min(sum(times for char, times in beyond.items() if char not in alphabet) for alphabet in _alphabets())
    pairs = Counter(pair for word in _LETTERS.findall(text) if not word.isascii() for pair in pairwise(word))
    misplaced = sum(times for pair, times in pairs.items() if _misplaced(*pair))
    capitals = sum(times for char, times in beyond.items() if char.isupper())
    letters = beyond.total() or 1
    return Fit(foreign / letters, misplaced / letters, 2 * capitals > letters)


def _misplaced(one: str, next_one: str) -> bool:
    """A capital after a small letter, letters of two scripts together, a final sigma that is not final."""
    if one.isascii() and next_one.isascii():
        return False
    return (one.islower() and next_one.isupper()) or (one < _GREEK) != (next_one < _GREEK) or one == "ς"


@cache
def _alphabets() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(letters + letters.upper()) for letters in _ALPHABETS)
