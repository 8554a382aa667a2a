"""Read numbers with units in the quotes that a report cites, in English and Chinese.

It reads only what needs no guess: a number directly followed or preceded by a unit, and the one year its clause names.
"""

import re
from collections.abc import Iterable, Iterator

from app.domain.citations import Citation
from app.reports.nouns import Figure

_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_ENGLISH_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_CHINESE_SCALES = {"千": 1e3, "万": 1e4, "萬": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "億": 1e8, "万亿": 1e12}
_SCALES = _ENGLISH_SCALES | _CHINESE_SCALES
_NAMES = {
    "%": ("%", "percent", "per cent", "％"),
    "km": ("km", "kilometres", "kilometers", "公里"),
    "km²": ("km²", "km2", "square kilometres", "square kilometers", "平方公里", "平方千米"),
    "m": ("metres", "meters", "米"),
    "miles": ("miles",),
    "square miles": ("square miles",),
    "kg": ("kg", "kilograms", "公斤"),
    "t": ("tonnes", "吨", "噸"),
    "tons": ("tons",),
    "US$": ("dollars", "美元"),
    "€": ("euros", "欧元"),
    "pounds": ("pounds",),
    "元": ("元", "人民币"),
    "¥": ("日元",),
    "people": ("people", "inhabitants", "residents", "人", "名"),
    "°C": ("°C", "℃", "degrees Celsius"),
    "MW": ("MW",),
    "GW": ("GW",),
    "TWh": ("TWh",),
    "GWh": ("GWh",),
    "mg": ("mg",),
    "deaths": ("deaths",),
    "seats": ("seats", "席"),
    "votes": ("votes", "票"),
    "years": ("years",),
    "ha": ("hectares", "公顷"),
}
_UNITS = {name: unit for unit, names in _NAMES.items() for name in names}
_SIGNS = {"$": "US$", "US$": "US$", "€": "€", "£": "£", "¥": "¥"}


def _any_of(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_SCALE = rf"(?:\s*(?P<scale>{_any_of(_SCALES)})\b|\s*(?P<zh>{_any_of(w for w in _SCALES if not w.isascii())}))?"
_AFTER = rf"\s?(?P<unit>{_any_of(_UNITS)})(?![A-Za-z])"
_FIGURE = re.compile(rf"(?<![A-Za-z0-9.,])(?:(?P<sign>{_any_of(_SIGNS)})\s?)?(?P<number>{_NUMBER}){_SCALE}(?:{_AFTER})?")
_CLAUSE = re.compile(r"[^;；。!?！？]+?(?:[;；。!?！？]|[.](?=\s|$)|$)")
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
        years = {int(year) for year in _YEAR.findall(clause)}
        for match in _FIGURE.finditer(clause):
            unit = _SIGNS.get(match["sign"] or "") or _UNITS.get(match["unit"] or "")
            if unit is None:
                continue
            scale = _SCALES.get(match["scale"] or match["zh"] or "", 1.0)
            yield Figure(
                text=match.group(0).strip(),
                value=float(match["number"].replace(",", "")) * scale,
                unit=unit,
                year=next(iter(years)) if len(years) == 1 else None,
                statement=clause,
                n=citation.n,
            )
