"""Figures of the quotes that a report cites: numbers with their units, in English, Chinese, German and French.

It takes only what needs no guess: a number directly followed or preceded by a unit, which is no end of a range, and the one year
that its clause names.
"""

import re
from collections.abc import Iterable, Iterator

from app.domain.citations import Citation
from app.domain.written_numbers import WrittenNumber, find_numbers
from app.reports.nouns import Figure

_NAMES = {
    "%": ("%", "percent", "per cent", "％", "Prozent", "pour cent"),
    "percentage points": ("percentage points", "percentage point", "个百分点", "Prozentpunkte", "Prozentpunkten"),
    "km": ("km", "kilometres", "kilometers", "Kilometer", "kilomètres", "公里", "千米"),
    "km²": (
        "km²",
        "km2",
        "km^2",
        "sq km",
        "Quadratkilometer",
        "kilomètres carrés",
        "square kilometres",
        "square kilometers",
        "平方公里",
        "平方千米",
    ),
    "m²": ("m²", "m2", "m^2", "square metres", "square meters", "Quadratmeter", "mètres carrés", "平方米"),
    "m³": ("m³", "m3", "m^3", "cubic metres", "cubic meters", "Kubikmeter", "立方米"),
    "m": ("metres", "meters", "Meter", "mètres", "米"),
    "miles": ("miles",),
    "square miles": ("square miles",),
    "kg": ("kg", "kilograms", "kilogrammes", "Kilogramm", "公斤", "千克"),
    "t": ("tonnes", "Tonnen", "吨", "噸"),
    "tons": ("tons",),
    "US$": ("dollars", "USD", "US-Dollar", "美元"),
    "€": ("€", "euros", "Euro", "EUR", "欧元"),
    "£": ("£", "GBP", "英镑"),
    "pounds": ("pounds",),
    "₹": ("₹", "rupees", "INR"),
    "CHF": ("CHF", "Swiss francs", "Franken"),
    "元": ("元", "人民币", "yuan", "RMB"),
    "¥": ("日元", "yen"),
    "people": ("people", "inhabitants", "residents", "Einwohner", "Menschen", "habitants", "personnes", "人", "名"),
    "°C": ("°C", "℃", "degrees Celsius"),
    "MW": ("MW",),
    "GW": ("GW",),
    "TWh": ("TWh",),
    "GWh": ("GWh",),
    "mg": ("mg",),
    "deaths": ("deaths",),
    "seats": ("seats", "席"),
    "votes": ("votes", "票"),
    "years": ("years", "Jahre", "ans"),
    "ha": ("hectares", "Hektar", "公顷"),
}
_UNITS = {name: unit for unit, names in _NAMES.items() for name in names}
_SIGNS = {"$": "US$", "US$": "US$", "USD": "US$", "€": "€", "EUR": "€", "£": "£", "GBP": "£", "¥": "¥", "₹": "₹", "CHF": "CHF"}


def _any_of(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_SIGN = re.compile(rf"(?<![A-Za-z])(?P<sign>{_any_of(_SIGNS)})\s?[-−]?$")
_UNIT = re.compile(rf"[\s-]?(?P<unit>{_any_of(_UNITS)})(?![A-Za-zäöüéè²³^])")
_RANGE_BEFORE = re.compile(r"\d\s?(?:[–—~-]|to|bis|à|至|到)\s?[$€£¥₹]?$")
_RANGE_AFTER = re.compile(r"\s?(?:[–—~-]|至|到)\s?[$€£¥₹]?\d")
_CLAUSE = re.compile(r"[^;；。!?！？]+?(?:[;；。!?！？]|(?<!\d (?:Mio|Mrd|Tsd))[.](?=\s|$)|$)")
_YEAR = re.compile(r"(?<![\d,.])(1[5-9]\d\d|20\d\d)(?:\s*年)?(?![\d,.]\d|\d)")
LONGEST = 240


def find_figures(citations: Iterable[Citation]) -> list[Figure]:
    """Return every figure of the cited quotes, in the order of the citations; the same number of the same clause once."""
    found: dict[tuple[str, str, int], Figure] = {}
    for citation in citations:
        for figure in _find_in_quote(citation):
            found.setdefault((figure.text, figure.statement, citation.n), figure)
    return list(found.values())


def _find_in_quote(citation: Citation) -> Iterator[Figure]:
    for clause in _CLAUSE.findall(" ".join(citation.quote.text.split())):
        clause = clause.strip()
        if not clause or len(clause) > LONGEST:
            continue
        read = [(number, *found) for number in find_numbers(clause) if (found := _find_unit(clause, number))]
        taken = {place for _, _, start, end in read for place in range(start, end)}
        years = {int(found.group(1)) for found in _YEAR.finditer(clause) if found.start() not in taken}
        for number, unit, start, end in read:
            yield Figure(
                text=clause[start:end].strip(),
                value=-number.value if number.negative else number.value,
                unit=unit,
                year=next(iter(years)) if len(years) == 1 else None,
                statement=clause,
                n=citation.n,
            )


def _find_unit(clause: str, number: WrittenNumber) -> tuple[str, int, int] | None:
    """Return the unit of a number, and where both begin and end; None without one, and for the ends of a range."""
    before = clause[: number.start]
    if _RANGE_BEFORE.search(before[-6:]) or _RANGE_AFTER.match(clause, number.end):
        return None
    if sign := _SIGN.search(before):
        return _SIGNS[sign["sign"]], sign.start(), number.end
    after = _UNIT.match(clause, number.end)
    return (_UNITS[after["unit"]], number.start, after.end()) if after else None
