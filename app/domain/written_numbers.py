"""The one reader of numbers in digits, as English, Chinese, German and French write them, with the scale behind them."""

import re
from typing import NamedTuple

from app.domain.script import IDEOGRAPHS

_SPACES = " \u00a0\u2009\u202f"
_GROUPED = (
    rf"\d{{1,3}}(?:(?P<mark>[{_SPACES}'’,，.])\d{{3}})(?:(?P=mark)\d{{3}})*(?!\d)"  # 1,234,567 or 1 234 or 1.234
    r"|\d{1,2}(?:,\d{2})+,\d{3}(?!\d)"  # 12,34,567
)
_POWER = r"\s?[×x*·⋅]\s?10(?:\^\(?(?P<flat>[-−+]?\d{1,3})\)?|(?P<raised>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+))"
# A comma before decimals follows no other one: 1,2,3 is a list.
_POINT = r"\.|·(?!10[\^⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹])|(?(unlisted),(?=\d{1,2}(?![\d,.]\d|\d))|(?!))"
_NUMBER = re.compile(
    rf"(?<![^\W{IDEOGRAPHS}])(?<!\.)(?:(?P<unlisted>(?<!\d,))|)(?:(?P<whole>{_GROUPED}|\d+)(?:(?:{_POINT})(?P<part>\d+))?"
    rf"|[.·](?P<small>\d+))(?:(?P<fraction>\s?[¼½¾⅓⅔⅛⅜⅝⅞]|[\s-][1-9]/[1-9]\d?(?![\d/]))|{_POWER})?"
)
_ALONE = re.compile("(?<![\\d.,/ ])(?P<fraction>[¼½¾⅓⅔⅛⅜⅝⅞])|(?<![\\d.,/] )(?<= )(?P<after>[¼½¾⅓⅔⅛⅜⅝⅞])")
_FRACTIONS = dict(zip("¼½¾⅓⅔⅛⅜⅝⅞", (0.25, 0.5, 0.75, 1 / 3, 2 / 3, 0.125, 0.375, 0.625, 0.875), strict=True))
_DIGIT = re.compile(rf"[\d{''.join(_FRACTIONS)}]")
_RAISED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "+-0123456789-")
SCALES = {
    **dict.fromkeys(("thousand", "tausend", "mille", "tsd", "k"), 1e3),
    **dict.fromkeys(("lakh", "lakhs"), 1e5),
    **dict.fromkeys(("million", "millions", "millionen", "mio", "mn", "mln", "m"), 1e6),
    **dict.fromkeys(("crore", "crores"), 1e7),
    **dict.fromkeys(("billion", "billions", "bn", "milliarde", "milliarden", "mrd", "milliard", "milliards", "b"), 1e9),
    **dict.fromkeys(("trillion", "trillions", "tn", "trn", "billionen"), 1e12),
    **{"hundred": 1e2, "hundreds": 1e2, "thousands": 1e3, "dozen": 12.0, "dozens": 12.0},
}
"""Words and short forms behind a number. A single letter is one behind money only."""
_CHINESE_SCALES = {"十": 1e1, "百": 1e2, "千": 1e3, "万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8, "兆": 1e12}
_SCALE = re.compile(
    rf"[\s-]?(?P<word>(?:{'|'.join(sorted(SCALES, key=len, reverse=True))})(?:(?<=mio|mrd|tsd)\.|\b))(?![²³])"
    rf"|\s?(?P<chinese>[{''.join(_CHINESE_SCALES)}]+)",
    re.IGNORECASE,
)
_MONEY = re.compile(r"(?:[$€£¥₹₩₽]|\b(?:USD|EUR|GBP|CHF|CNY|RMB|JPY|INR))\s?$")
_MONEY_AFTER = re.compile(r"\s?[€$£¥₹]")
_MINUS = re.compile(rf"(?:^|[\s(\[|:{IDEOGRAPHS}])[-−–](?:[$€£¥₹]\s?)?$|\bminus (?:[$€£¥₹]\s?)?$|负$", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\(\s?[$€£¥₹]\s?$")
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])\d{1,3}(?:[. \u00a0\u202f]\d{3})*,\d{1,2}(?![\d,]|\.\d)")
_DECIMAL_POINT = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})*\.\d{1,2}(?![\d.,]|\.\d)|\d,\d{3}\.\d")


class WrittenNumber(NamedTuple):
    """A number at `[start, end)`, with its scale; its digits, whose value is `bare`, end at `digits_end`. Values have no sign."""

    value: float
    start: int
    end: int
    bare: float
    digits_end: int
    negative: bool = False


def find_numbers(text: str) -> list[WrittenNumber]:
    """Return the numbers in digits of a text, in order."""
    if not _DIGIT.search(text):
        return []
    comma = uses_decimal_comma(text)
    found = [_complete(text, match, comma) for match in (*_NUMBER.finditer(text), *_ALONE.finditer(text))]
    return _join_scales(text, sorted(found, key=lambda number: number.start))


def _join_scales(text: str, numbers: list[WrittenNumber]) -> list[WrittenNumber]:
    """Add what follows a Chinese scale without a gap, as in 1亿2000万, to the number before it."""
    joined: list[WrittenNumber] = []
    for number in numbers:
        last = joined[-1] if joined else None
        if last and last.end == number.start and number.value < _CHINESE_SCALES.get(text[last.end - 1], 0.0):
            joined[-1] = last._replace(value=last.value + number.value, end=number.end)
        else:
            joined.append(number)
    return joined


def read_number_at(text: str, start: int) -> WrittenNumber | None:
    """Return the number in digits that begins at a place; None where there is none."""
    found = _NUMBER.match(text, start)
    return _complete(text, found, uses_decimal_comma(text)) if found else None


def uses_decimal_comma(text: str) -> bool:
    """Say whether a comma stands before decimals, as some number of the text shows."""
    return bool(_DECIMAL_COMMA.search(text)) and not _DECIMAL_POINT.search(text)


def read_scale(text: str, end: int, money: bool = False) -> tuple[float, int]:
    """Return the factor that a word behind a number states, and where it ends; 1 where there is none."""
    found = _SCALE.match(text, end)
    if found is None:
        return 1.0, end
    if word := found["word"]:
        is_unit = len(word) == 1 and not (money and found.start("word") == end)
        return (1.0, end) if is_unit else (SCALES[word.lower().rstrip(".")], found.end())
    value = 1.0
    for scale in found["chinese"]:
        value *= _CHINESE_SCALES[scale]
    return value, found.end()


def _complete(text: str, found: re.Match[str], comma: bool) -> WrittenNumber:
    start, end = found.span()
    bare = _read_digits(found, comma)
    before = text[max(0, start - 8) : start]
    factor, last = read_scale(text, end, bool(_MONEY.search(before) or _MONEY_AFTER.match(text, end + 1)))
    value = round(bare * factor, 9) if factor >= 1 else bare * factor
    return WrittenNumber(
        value, start, last, bare, end, bool(_MINUS.search(before)) or _is_bracketed(before, text[last : last + 1])
    )


def _is_bracketed(before: str, after: str) -> bool:
    """Say whether money stands in brackets, as accounts write what was lost."""
    return after == ")" and _IN_BRACKETS.search(before) is not None


def _read_digits(found: re.Match[str], comma: bool) -> float:
    groups = found.groupdict()
    whole, part, mark = groups.get("whole") or "", groups.get("part") or groups.get("small"), groups.get("mark")
    if mark and part is None and whole.count(mark) == 1 and mark == ("," if comma else "."):
        number = float(whole.replace(",", "."))  # what one mark before three digits is, the rest of the text tells
    else:
        number = float((re.sub(r"\D", "", whole) or "0") + (f".{part}" if part else ""))
    fraction = (groups.get("fraction") or groups.get("after") or "").strip(" -")
    above, _, below = fraction.partition("/")
    if power := groups.get("flat") or groups.get("raised"):
        number *= 10.0 ** int(power.translate(_RAISED))
    return number + (float(above) / float(below) if below else _FRACTIONS.get(fraction, 0.0))
