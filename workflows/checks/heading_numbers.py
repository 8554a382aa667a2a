"""Reading the numbers that headings begin with (2.1, 一、, IV., B), Step 3:, 附录A), and removing those that count headings."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from retrieval.language.numbers import read_chinese_numeral

LARGEST_PLAIN_NUMBER = 60
"""A larger number at the start of a heading, without a full stop after it, is a year or an amount."""
LARGEST_ROMAN = 39
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ARABIC = re.compile(r"(?:第\s*)?(\d{1,3}(?:\.\d{1,3})*)(?P<stop>[.．、:：)）]|\s*[章节部分条步]{1,2}[、:：\s]?)?(?=\s|\D|$)")
_CHINESE = re.compile(
    r"(?P<open>[（(])?(?:第)?([一二三四五六七八九十]{1,3})(?(open)[)）]|(?:[、．.:：]|(?:阶段|[章节部分篇步]{1,2})[、:：\s]?))"
)
# A letter before a small letter is a short name: "E. coli".
_LETTERS = re.compile(
    r"[（(]?(?P<own>[IVXivx]{1,6}|[A-Za-z])(?:[)）:：、]|[.．](?=\s+[^a-z]|[^\sA-Za-z\d.]|\s*$))|(?P<bare>[IVX]{1,6})(?=\s+[^a-z\s])"
)
# "Phase 3 trials" are no third phase of the report: a label needs a mark after its number.
_LABELLED = re.compile(
    r"(?P<label>step|phase|part|chapter|section|stage|appendix|annex|theme|lesson|case|question|finding|步骤|阶段|附录|部分|主题|案例|问题|发现)"
    rf"\s*(?P<own>\d{{1,2}}|[IVXivx]{{1,6}}|[A-Za-z]|[一二三四五六七八九十]{{1,3}}|{'|'.join(_WORDS)})\s*(?:[.．、:：)）]|[–—-]|$)",
    re.IGNORECASE,
)
_ROMAN = {"i": 1, "v": 5, "x": 10}


class HeadingNumber(NamedTuple):
    """One reading of a heading's number: `2.1` is (2, 1). `style` keeps apart what is counted apart, such as 一、 and （一）."""

    style: str
    parts: tuple[int, ...]

    @property
    def needs_a_row(self) -> bool:
        """Whether it counts only in a row: letters and labels are numbers only where a row of them begins with the first."""
        return self.style not in ("1", "一", "（）")


def read_heading_numbers(plain: str) -> tuple[list[HeadingNumber], int]:
    """Return the readings of the number that a title begins with, and its length. "I." may be a letter too.

    A label without words after it ("Part II") is the title itself: its length is 0.
    """
    if found := _LABELLED.match(plain):
        label = found["label"].lower()
        readings = [HeadingNumber(f"{label} {style}", (own,)) for style, own in _read_numerals(found["own"])]
        return readings, found.end() if plain[found.end() :].strip() else 0
    if found := _CHINESE.match(plain):
        return [HeadingNumber("（）" if found["open"] else "一", (read_chinese_numeral(found.group(2)),))], found.end()
    if found := _LETTERS.match(plain):
        return [HeadingNumber(style, (own,)) for style, own in _read_numerals(found["own"] or found["bare"])], found.end()
    return _read_arabic(plain)


def remove_numbering(titles: Sequence[str]) -> list[str]:
    """Return the titles of neighbouring headings without the numbers that count them: 1, 2, 3 or 2.1, 2.2.

    Any other number is a word of its title: "14 September 2026", "60 % of probes". Numbers without a mark ("1 Methods") count
    only where every title has one.
    """
    read = [read_heading_numbers(title) for title in titles]
    for style in dict.fromkeys(number.style for readings, _ in read for number in readings):
        counted = _find_row([next((n.parts for n in readings if n.style == style), ()) for readings, _ in read])
        marked = all(_has_mark(titles[place][: read[place][1]]) for place in counted)
        if counted and (marked or len(counted) == len(titles) > 1):
            return [title[read[place][1] :].strip() if place in counted else title for place, title in enumerate(titles)]
    return list(titles)


def _find_row(numbers: Sequence[tuple[int, ...]]) -> list[int]:
    """Return the places of the numbers that count up from 1 under the same higher number, which is the first one's."""
    places: list[int] = []
    for place, parts in enumerate(numbers):
        if parts and parts[-1] == len(places) + 1 and (not places or parts[:-1] == numbers[places[0]][:-1]):
            places.append(place)
    return places


def _has_mark(number: str) -> bool:
    """Say whether a number ends with more than a digit or a letter."""
    return bool(number) and re.search(r"[0-9A-Za-z]\s*$", number) is None


def _read_arabic(plain: str) -> tuple[list[HeadingNumber], int]:
    found = _ARABIC.match(plain)
    if found is None:
        return [], 0
    parts = tuple(int(part) for part in found.group(1).split("."))
    if not found["stop"] and len(parts) == 1 and (parts[0] > LARGEST_PLAIN_NUMBER or not plain[found.end() :].startswith(" ")):
        return [], 0
    return [HeadingNumber("1", parts)], found.end()


def _read_numerals(own: str) -> list[tuple[str, int]]:
    """Return each way to read a numeral, with its value."""
    if own.isdigit():
        return [("1", int(own))]
    if not own.isascii():
        return [("一", read_chinese_numeral(own))]
    if own.lower() in _WORDS:
        return [("1", _WORDS.index(own.lower()) + 1)]
    case = "I" if own.isupper() else "i"
    roman = [(case, value)] if (value := _read_roman(own.lower())) else []
    return roman + ([(chr(ord(case) - 8), ord(own.lower()) - ord("a") + 1)] if len(own) == 1 else [])


def _read_roman(own: str) -> int:
    """Return the value of a Roman numeral, 0 for letters that are none."""
    values = [_ROMAN.get(letter, 0) for letter in own]
    total = sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))
    return total if 0 < total <= LARGEST_ROMAN and _write_roman(total) == own else 0


def _write_roman(number: int) -> str:
    ones = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
    return "x" * (number // 10) + ones[number % 10]
