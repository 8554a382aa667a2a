"""The numbers of the items of lists: 2, ii, b, 二."""

_ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
)
_HAN = "〇一二三四五六七八九"
_HAN_FORMATS = (
    "chineseCounting",
    "chineseCountingThousand",
    "taiwaneseCounting",
    "taiwaneseCountingThousand",
    "japaneseCounting",
)


def write_number(value: int, form: str) -> str:
    """Write a number in a form of lists, by its name in the format; an unknown form is decimal."""
    match form:
        case "none":
            return ""
        case "lowerRoman" | "upperRoman":
            roman = _write_roman(value)
            return roman.upper() if form == "upperRoman" else roman
        case "lowerLetter" | "upperLetter" if value > 0:
            letter = chr(ord("a") + (value - 1) % 26) * ((value - 1) // 26 + 1)
            return letter.upper() if form == "upperLetter" else letter
        case "decimalZero":
            return f"{value:02}"
        case "ordinal":
            return f"{value}{'th' if value % 100 in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(value % 10, 'th')}"
        case _ if form in _HAN_FORMATS and 0 < value < 100:
            tens, ones = divmod(value, 10)
            return f"{_HAN[tens] if tens > 1 else ''}{'十' if tens else ''}{_HAN[ones] if ones else ''}"
    return str(value)


def _write_roman(value: int) -> str:
    written = ""
    for size, letters in (*_ROMAN, (4, "iv"), (1, "i")):
        written += letters * (value // size)
        value %= size
    return written
