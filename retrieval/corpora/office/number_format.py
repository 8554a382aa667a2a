"""The number formats of spreadsheets: a number as its cell shows it. Whole dates in digits are written as 1951-06-30."""

import re
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache

BUILT_IN = {
    **{1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??"},
    **{
        14: "yyyy-mm-dd",
        15: "d-mmm-yy",
        16: "d-mmm",
        17: "mmm-yy",
        18: "h:mm AM/PM",
        19: "h:mm:ss AM/PM",
        20: "h:mm",
        21: "h:mm:ss",
    },
    **{22: "yyyy-mm-dd h:mm", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)"},
    **{45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@"},
    **dict.fromkeys((27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58), "yyyy-mm-dd"),
}
"""The formats that files name by a number only."""
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_.|\*.|\[\$(?P<currency>[^\]-]*)(?:-[^\]]*)?\]|\[(?P<elapsed>h+|m+|s+)\]|\[(?P<condition>[<>=][^\]]*)\]'
    r"|\[[^\]]*\]|(?P<half>AM/PM|A/P)|(?P<general>General)|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?|[eb]+(?![+-]))|(?P<digits>[0#?][0#?,.]*|\.[0#?]+)"
    r"|(?P<scientific>E[+-])|(?P<text>@)|(?P<percent>%)|(?P<slash>/)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_SHOWN = ("literal", "percent", "slash")
_EPOCH, _EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?[\d.]+)")
Token = tuple[str, str]


def write_value(stored: str, code: str, from_1904: bool = False) -> str:
    """Return a stored number as the format `code` shows it; what is no number is returned as it is."""
    if code == "General" and stored.isdecimal() and len(stored) < 16:
        return stored
    try:
        value = Decimal(stored)
    except InvalidOperation:
        return stored
    tokens, absolute = _choose_section(code or "General", value)
    kinds = {kind for kind, _ in tokens}
    if not value.is_finite() or not tokens:
        return stored if tokens or not value.is_finite() else ""
    if kinds & {"date", "elapsed"} and "digits" not in kinds:
        return _write_date(tokens, value, _EPOCH_1904 if from_1904 else _EPOCH)
    if kinds & {"general", "text"}:
        return _fill(tokens, _write_general(abs(value) if absolute else value), ("general", "text"))
    return _write_number(tokens, abs(value) if absolute else value)


def write_text(stored: str, code: str) -> str:
    """Return a stored text as the format `code` shows it: by its fourth section, or a last one with an "@"."""
    section = _split_sections(code)[1]
    return stored if section is None else _fill(section, stored, ("text", "general"))


def _split_sections(code: str) -> tuple[list[list[Token]], list[Token] | None]:
    """Return the sections for numbers, and the one for texts."""
    sections = [list(section) for section in _split_format(code)]
    if len(sections) > 3:
        return sections[:3], sections[3]
    if not any(kind == "text" for kind, _ in sections[-1]):
        return sections, None
    return sections[:-1] or sections, sections[-1]


@lru_cache(maxsize=512)
def _split_format(code: str) -> tuple[tuple[Token, ...], ...]:
    """Return the tokens of each section of a format."""
    sections: list[list[Token]] = [[]]
    for found in _TOKEN.finditer(code):
        kind = found.lastgroup
        if kind == "other" and found.group() == ";":
            sections.append([])
        elif kind is not None:
            sections[-1].append(("literal" if kind in ("quoted", "escaped", "currency", "other") else kind, found.group(kind)))
    return tuple(map(tuple, sections))


def _choose_section(code: str, value: Decimal) -> tuple[list[Token], bool]:
    """Return the section for a value, and whether it shows the value without its sign."""
    sections, _ = _split_sections(code)
    for place, section in enumerate(sections):
        condition = next((_CONDITION.match(text) for kind, text in section if kind == "condition"), None)
        if condition and _holds(value, condition.group(1), Decimal(condition.group(2))):
            return section, place > 0 and value < 0
    if any(kind == "condition" for section in sections for kind, _ in section):
        return next((s for s in reversed(sections) if all(kind != "condition" for kind, _ in s)), [("general", "")]), False
    if value < 0 and len(sections) > 1:
        return sections[1], True
    return (sections[2], False) if value == 0 and len(sections) > 2 else (sections[0], False)


def _holds(value: Decimal, sign: str, limit: Decimal) -> bool:
    return {
        "<": value < limit,
        ">": value > limit,
        "=": value == limit,
        "<=": value <= limit,
        ">=": value >= limit,
        "<>": value != limit,
    }[sign]


def _fill(tokens: list[Token], written: str, kinds: tuple[str, ...]) -> str:
    """Put a written number into the place of the first of these tokens, between the literals."""
    parts, done = [], False
    for kind, text in tokens:
        if kind in kinds:
            parts.append("" if done else written)
            done = True
        elif kind in _SHOWN:
            parts.append(text)
    return " ".join("".join(parts).split())


def _write_general(value: Decimal) -> str:
    written = f"{float(value):.15g}"
    return f"{Decimal(written):f}" if "e-" in written and abs(value) > Decimal("1e-10") else written


def _write_number(tokens: list[Token], value: Decimal) -> str:
    shape = "".join(text for kind, text in tokens if kind == "digits")
    kinds = [kind for kind, _ in tokens]
    sign = "-" if value < 0 else ""
    size = abs(value) * 100 ** kinds.count("percent")
    if "scientific" in kinds:
        written = _write_scientific(tokens, size)
        return sign + _fill([token for token in tokens if token[0] != "scientific"], written, ("digits",))
    if "slash" in kinds:
        return sign + _write_fraction(tokens, size)
    whole, _, rest = shape.partition(".")
    size /= Decimal(1000) ** (len(shape) - len(shape.rstrip(",")))
    written = _write_digits(size, whole.strip(","), rest.strip(","), "," in whole.strip(","))
    shown = _fill(*_spread_digits(tokens, written))
    return sign + shown if any(digit in "123456789" for digit in written) else shown


def _spread_digits(tokens: list[Token], written: str) -> tuple[list[Token], str, tuple[str, ...]]:
    """Give each group of digits of a format, such as 000-00-0000, its digits; the first has those that are left."""
    places = [place for place, (kind, _) in enumerate(tokens) if kind == "digits"]
    spread, (left, point, right) = list(tokens), written.partition(".")
    for place in reversed(places[1:]):
        width = sum(sign in "0#?" for sign in tokens[place][1].partition(".")[0])
        group, left = (left[-width:], left[:-width]) if width else ("", left)
        spread[place] = ("literal", group + point + right)
        point = right = ""
    return spread, left + point + right, ("digits",)


def _write_digits(size: Decimal, whole: str, rest: str, grouped: bool) -> str:
    """Write a number with as many digits as the format asks for: "0" stands always, "#" and "?" only if needed."""
    with_rest = (
        size.quantize(Decimal(1).scaleb(-len(rest)), ROUND_HALF_UP) if size < Decimal(10) ** 20 else size.to_integral_value()
    )
    left, _, right = f"{with_rest:f}".partition(".")
    left = (left if left != "0" else "").zfill(whole.count("0"))
    needed = rest.count("0")
    right = right[:needed] + right[needed:].rstrip("0")
    if grouped and left:
        left = f"{int(left):,}" if len(left.lstrip("0")) >= whole.count("0") else left
    return f"{left}.{right}" if right else left


def _write_scientific(tokens: list[Token], size: Decimal) -> str:
    places = [text for kind, text in tokens if kind == "digits"]
    rest, power = places[0].partition(".")[2], size.adjusted() if size else 0
    step = max(len(places[0].partition(".")[0]), 1)
    power -= power % step
    mantissa = size.scaleb(-power) if size else size
    exponent = str(abs(power)).zfill(len(places[-1]) if len(places) > 1 else 2)
    plus = next((text[-1] for kind, text in tokens if kind == "scientific"), "+")
    sign = "-" if power < 0 else plus.replace("-", "")
    return f"{mantissa.quantize(Decimal(1).scaleb(-len(rest)), ROUND_HALF_UP):f}E{sign}{exponent}"


def _write_fraction(tokens: list[Token], size: Decimal) -> str:
    """Write a number as a whole and a fraction, such as 3 1/2. A format names its denominator, or how many digits it has."""
    places = [text for kind, text in tokens if kind == "digits"]
    below = places[-1]
    fixed = re.search(r"/\s*(\d+)", "".join(text for kind, text in tokens if kind in ("digits", "literal", "slash")))
    if fixed and int(fixed.group(1)) > 0:
        bottom = int(fixed.group(1))
        exact = Fraction(round(size * bottom), bottom)
        top = round(size * bottom)
    else:
        exact = Fraction(size).limit_denominator(10 ** min(len(below), 4) - 1)
        top, bottom = exact.numerator, exact.denominator
    if len(places) < (2 if fixed else 3):
        return f"{top}/{bottom}"
    whole, part = divmod(top, bottom)
    return " ".join(filter(None, (str(whole) if whole or not part else "", f"{part}/{bottom}" if part else "")))


def _write_date(tokens: list[Token], value: Decimal, epoch: datetime) -> str:
    """Write a day and a time. A date in digits is written with its year first, since 4/5 is read as April and as May."""
    parts = _find_minutes(tokens)
    try:
        moment = epoch + timedelta(seconds=round(float(value) * 86_400, 3))
    except OverflowError:
        return _write_general(value)
    if not any(kind == "date" and "." in text for kind, text in parts) and moment.microsecond:
        moment = (moment + timedelta(microseconds=500_000)).replace(microsecond=0)
    letters = {text[0].lower() for kind, text in parts if kind == "date"}
    months = [text for kind, text in parts if kind == "date" and text[0] == "m"]
    if {"y", "m", "d"} <= letters and max(map(len, months)) < 3 and not any(kind == "elapsed" for kind, _ in parts):
        clock = [part for part in parts if part[0] == "date" and part[1][0] in "his" and value % 1]
        return " ".join((moment.date().isoformat(), _join_clock(clock, moment))).strip()
    half = any(kind == "half" for kind, _ in parts)
    return " ".join("".join(_write_date_part(kind, text, moment, value, half) for kind, text in parts).split())


def _find_minutes(tokens: list[Token]) -> list[Token]:
    """Return the tokens with minutes as "i": an "m" after hours or before seconds."""
    parts = [(kind, text.lower() if kind in ("date", "elapsed") else text) for kind, text in tokens]
    timed = [place for place, (kind, _) in enumerate(parts) if kind in ("date", "elapsed")]
    for at, place in enumerate(timed):
        kind, text = parts[place]
        before = parts[timed[at - 1]][1][0] if at else ""
        after = parts[timed[at + 1]][1][0] if at + 1 < len(timed) else ""
        if kind == "date" and text in ("m", "mm") and (before == "h" or after == "s"):
            parts[place] = (kind, "i" * len(text))
    return parts


def _join_clock(clock: list[Token], moment: datetime) -> str:
    """Write a time of the day as the format does, with colons."""
    if not clock:
        return ""
    return f"{moment:%H:%M:%S}" if any(text[0] == "s" for _, text in clock) else f"{moment:%H:%M}"


def _write_date_part(kind: str, text: str, moment: datetime, value: Decimal, half: bool) -> str:
    if kind == "elapsed":
        unit = {"h": 3_600, "m": 60, "s": 1}[text[0].lower()]
        return f"{'-' if value < 0 else ''}{str(round(abs(value) * 86_400) // unit).zfill(len(text))}"
    if kind == "half":
        return "AM" if moment.hour < 12 else "PM"
    if kind != "date":
        return text if kind in _SHOWN else ""
    match text[0]:
        case "y" | "e":
            return str(moment.year) if len(text) > 2 or text[0] == "e" else f"{moment.year % 100:02}"
        case "m" if len(text) > 2:
            return _MONTHS[moment.month - 1] if len(text) == 4 else _MONTHS[moment.month - 1][: 1 if len(text) == 5 else 3]
        case "d" if len(text) > 2:
            return _DAYS[moment.weekday()] if len(text) > 3 else _DAYS[moment.weekday()][:3]
        case "s" if "." in text:
            return f"{moment.second:02}.{moment.microsecond // 1000:03}"[: 3 + len(text.partition(".")[2])]
    number = {"m": moment.month, "d": moment.day, "h": moment.hour, "i": moment.minute, "s": moment.second}.get(text[0], 0)
    if text[0] == "h" and half:
        number = number % 12 or 12
    return f"{number:02}" if len(text) > 1 else str(number)
