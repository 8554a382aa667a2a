"""The detection of a text's single-byte encoding by the alphabets of languages.

Detection by frequencies confuses related encodings: it reads "Voilà, une crêpe" as "Voilŕ, une crępe", with letters that no
language uses together. So every encoding is tried, and the one is taken whose letters all belong to one language.
"""

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from typing import NamedTuple

_LATIN_ENCODINGS = ("cp1252", "cp1250", "iso8859-2", "cp1254", "cp1257", "mac_roman", "mac_latin2")
ENCODINGS = (*_LATIN_ENCODINGS, "cp1251", "koi8-r", "koi8-u", "iso8859-5", "cp866", "mac_cyrillic", "cp1253", "iso8859-7")
"""The encodings in use, the most usual first. ISO 8859-1 and -9 are parts of cp1252 and cp1254."""
_WESTERN = ("", "àâæçéèêëîïôœùûüÿ", "äöüß", "áéíñóúü", "ãáâàçéêíóôõú", "àèéìíîòóù", "åäöé", "æøåéó", "äöåšž", "ëéèïöüóá")
_EASTERN = ("áðéíóúýþæö", "ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîșțşţ", "čćđšž", "çğıöşüâîû")
_FURTHER = ("āčēģīķļņšūž", "ąčęėįšųūž", "äõöüšž", "àèéíïòóúüç", "çë")
_CYRILLIC = tuple("абвгдежзийклмнопрстуфхцчшщьюя" + own for own in ("ыэёъ", "іїєґ", "ъ", "ыэёіў", "јљњћђџ", "јљњѓќѕџ"))
_ALPHABETS = (*_WESTERN, *_EASTERN, *_FURTHER, *_CYRILLIC, "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ")
_MARKS = frozenset("\xa0\xad«»„“”‚‘’‹›–—…•·°§©®™€£¥ªº¹²³½¼¾×±µ¡¿№´¨†‡‰")
_LETTERS = re.compile(r"[^\W\d_]+")
_GREEK = "\u0370"  # letters from here on are Greek or Cyrillic, those before it Latin
_SHARE = 0.02
"""The share of the letters beyond ASCII that may be foreign, as in names."""
_SAMPLE = 8_000


class EncodingMisfit(NamedTuple):
    """The misfit of a decoded text to its best language: the smaller the better, in the order of the fields.

    `foreign` and `misplaced` are shares of the letters and signs beyond ASCII, without usual marks: letters that the language
    does not have, and pairs of letters that no language writes together. `shouted` says whether most are capitals.
    """

    foreign: float
    misplaced: float
    shouted: bool


def detect_encoding(content: bytes) -> str | None:
    """Return the encoding in which `content` has the letters of one language; None where there is none."""
    fits = {encoding: fit for encoding in ENCODINGS if (fit := _misfit_of(content[:_SAMPLE], encoding)) is not None}
    best = min(fits, key=fits.__getitem__, default=None)
    return best if best and fits[best].foreign <= _SHARE and fits[best].misplaced <= _SHARE else None


def _misfit_of(content: bytes, encoding: str) -> EncodingMisfit | None:
    """Measure the misfit in this encoding; None where it cannot decode the content."""
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return None
    beyond = Counter(char for char in text if char > "\x7f" and char not in _MARKS)
    foreign = min(sum(times for char, times in beyond.items() if char not in alphabet) for alphabet in _letter_sets())
    pairs = Counter(pair for word in _LETTERS.findall(text) if not word.isascii() for pair in pairwise(word))
    misplaced = sum(times for pair, times in pairs.items() if _is_misplaced(*pair))
    capitals = sum(times for char, times in beyond.items() if char.isupper())
    letters = beyond.total() or 1
    return EncodingMisfit(foreign / letters, misplaced / letters, 2 * capitals > letters)


def _is_misplaced(one: str, next_one: str) -> bool:
    """Say whether two letters do not belong together: small before capital, two scripts, a final sigma before a letter."""
    if one.isascii() and next_one.isascii():
        return False
    return (one.islower() and next_one.isupper()) or (one < _GREEK) != (next_one < _GREEK) or one == "ς"


@cache
def _letter_sets() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(letters + letters.upper()) for letters in _ALPHABETS)
