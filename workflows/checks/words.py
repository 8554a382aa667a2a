"""Words as detectors compare them: English stemmed, Chinese cut into pairs of ideographs."""

import re
from functools import lru_cache
from typing import NamedTuple

_IDEOGRAPHS = "㐀-鿿豈-﫿"
_WORD = re.compile(
    rf"[{_IDEOGRAPHS}]+|\d+(?:[.,]\d+)*|[^\W\d_{_IDEOGRAPHS}](?:[\w/+-]*[^\W_{_IDEOGRAPHS}])?(?:['’][^\W\d_{_IDEOGRAPHS}]+)?"
)
_ASCII_WORD = re.compile(r"\d+(?:[.,]\d+)*|[a-z](?:[a-z0-9_/+-]*[a-z0-9])?(?:['’][a-z]+)?", re.ASCII)
_OTHER_LETTER = re.compile(r"[^\W\x00-\x7f]")
_POSSESSIVE = re.compile(r"['’]s?$")
# Endings of number, tense and the commonest derivations, the longest first. A Snowball stemmer grades no better and costs
# many times as much, in a process whose budget for a whole report is 0.15 s.
_ENDING = re.compile(r"(?<=\w{3})(?:ations?|ments?|ings?|ions?|ies|ied|ity|ities|ally|ly|ed|es|e|(?<!s)s|y)$")


def listed(text: str) -> frozenset[str]:
    """The words of a list written as text."""
    return frozenset(text.split())


GRAMMAR = listed(
    """
    a about above after again all also although am an and another any are as at be became because become been before being
    below between both but by can could did do does doing during each either else ever every for from further get gets given
    had has have having he hence her here hers herself him himself his how however i if in indeed instead into is it its itself
    just let like may me might more most much must my myself nor now of off often on once one only onto or other our out over
    own per perhaps quite rather really same shall she should since so some still such than that the their them themselves then
    there thereby therefore these they this those though through throughout thus till to too toward towards under until unto up
    upon us via was we well were what when where whereas whether which while who whom whose why will with within would yet you
    your due using used use show shows showed shown found find finds study studies result results
    """
)
"""Words that carry grammar, or talk about a study, not about its subject."""
_CHINESE_RUN = re.compile("[^的了是在和与及或吗呢吧啊把被让从到对于以其之也都就而且并这那个们]+")


class Word(NamedTuple):
    """A word in lower case, and its stem: empty for grammar."""

    text: str
    stem: str

    @property
    def key(self) -> str:
        """What word lists name it by."""
        return self.stem or self.text


@lru_cache(maxsize=65_536)
def stem_of(lower: str) -> str:
    """The stem of a word in lower case; empty for one that only carries grammar."""
    if lower in GRAMMAR:
        return ""
    bare = _POSSESSIVE.sub("", lower)
    return "" if bare in GRAMMAR else _ENDING.sub("", bare)


@lru_cache(maxsize=65_536)
def _word(lower: str) -> Word:
    return Word(lower, stem_of(lower))


def words_of(text: str) -> list[Word]:
    """All words of a text, in order."""
    lower = text.lower()
    if _in_ascii_words(lower):
        return [_word(found) for found in _ASCII_WORD.findall(lower)]
    found: list[Word] = []
    for word in _WORD.findall(lower):
        found.extend(_pairs(word) if is_ideograph(word[0]) else (_word(word),))
    return found


def _in_ascii_words(lower: str) -> bool:
    """Whether its letters and digits are all ASCII, whatever its punctuation: their words are found in a third of the time."""
    return lower.isascii() or not _OTHER_LETTER.search(lower)


def terms_in(text: str, most: int) -> int:
    """How many words with a meaning of their own a text has, counted up to `most` and read no farther."""
    lower, pattern = text.lower(), _ASCII_WORD if text.isascii() else _WORD
    count = 0
    for found in pattern.finditer(lower):
        word = found.group()
        count += len(_pairs(word)) if is_ideograph(word[0]) else bool(stem_of(word))
        if count >= most:
            return most
    return count


def is_ideograph(char: str) -> bool:
    """Whether a character is Chinese."""
    return "\u3400" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff"


def _pairs(run: str) -> list[Word]:
    """Overlapping pairs of ideographs, not across those that only carry grammar."""
    pieces = _CHINESE_RUN.findall(run)
    return [Word(piece[i : i + 2], piece[i : i + 2]) for piece in pieces for i in range(max(1, len(piece) - 1))]
