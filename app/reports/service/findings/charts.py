"""Draw charts of comparable numbers: one subject, one unit, three years or more. No chart is better than a misleading one."""

import html
import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from app.domain.script import IDEOGRAPHS
from app.reports.nouns import Chart, Figure, Point

FEWEST, MOST = 3, 24
ALIKE = 0.6
_WORD = re.compile(rf"[^\W\d_]{{3,}}|[{IDEOGRAPHS}]")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "the and for was were with from that this had has have its than over about into after more less per year years",
    )
)
# Words, single ideographs, and the characters between them.
_TOKEN = re.compile(rf"[^\W\d_{IDEOGRAPHS}]+|[{IDEOGRAPHS}]|\d+|[^\w]")
_FRAME = frozenset(re.findall(r"\w+", "the a an was were is are had in of to at by 年 为 為 是 达 达到 了"))
TITLE_CHARS, LABEL_CHARS = 90, 30
WIDTH, ROW, LEFT, RIGHT = 640, 26, 60, 200


def draw_charts(figures: Sequence[Figure]) -> list[Chart]:
    """Return a chart, in the order of the years, for each group of figures that say the same of three different years or more."""
    groups: list[list[Figure]] = []
    for figure in figures:
        if figure.year is None or _is_ambiguous(figure, figures):
            continue
        home = next((group for group in groups if _are_comparable(group[0], figure)), None)
        if home is None:
            groups.append([figure])
        elif figure.year not in {other.year for other in home}:
            home.append(figure)
    made = (_draw_chart(sorted(group, key=lambda f: f.year or 0)[:MOST]) for group in groups if len(group) >= FEWEST)
    return [chart for chart in made if chart.title]


def _is_ambiguous(figure: Figure, figures: Sequence[Figure]) -> bool:
    """Return True when the clause gives two numbers in the same unit: then the year could belong to either."""
    return sum(other.statement == figure.statement and other.unit == figure.unit and other.n == figure.n for other in figures) > 1


def _are_comparable(one: Figure, other: Figure) -> bool:
    """Return True for two clauses in nearly the same words except for their numbers, in the same unit."""
    if one.unit != other.unit:
        return False
    a, b = _words_of(one.statement), _words_of(other.statement)
    return bool(a and b) and len(a & b) / min(len(a), len(b)) >= ALIKE


def _words_of(statement: str) -> frozenset[str]:
    return frozenset(_WORD.findall(statement.casefold())) - _COMMON


def _draw_chart(group: Sequence[Figure]) -> Chart:
    points = tuple(Point(label=str(figure.year), value=figure.value, text=figure.text, n=figure.n) for figure in group)
    title = _title_of(group)
    return Chart(title=title, unit=group[0].unit, points=points, svg=_draw_bars(title, group[0].unit, points))


def _title_of(group: Sequence[Figure]) -> str:
    """Return the longest run of words that all statements share, without function words at its ends."""
    run = _TOKEN.findall(group[0].statement)
    for figure in group[1:]:
        other = _TOKEN.findall(figure.statement)
        match = SequenceMatcher(None, run, other, autojunk=False).find_longest_match()
        run = run[match.a : match.a + match.size]
    while run and (run[0].casefold() in _FRAME or not run[0].strip().isalnum()):
        run = run[1:]
    while run and (run[-1].casefold() in _FRAME or not run[-1].strip().isalnum()):
        run = run[:-1]
    return "".join(run)[:TITLE_CHARS]


def _draw_bars(title: str, unit: str, points: Sequence[Point]) -> str:
    """Return horizontal bars from zero, each with its year, its number as the source writes it, and its citation."""
    top = max(max(point.value for point in points), 0.0) or 1.0
    height = ROW * len(points) + 46
    said = html.escape(f"{title} ({unit})")
    rows = []
    for place, point in enumerate(points):
        y = 40 + ROW * place
        width = max(0.0, point.value) / top * (WIDTH - LEFT - RIGHT)
        label = html.escape(f"{point.text[:LABEL_CHARS]} [{point.n}]")
        rows.append(
            f'<text x="{LEFT - 8}" y="{y + 14}" text-anchor="end">{html.escape(point.label)}</text>'
            f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{ROW - 8}" fill="#1f5f8b"/>'
            f'<text x="{LEFT + width + 6:.1f}" y="{y + 14}">{label}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{said}" '
        f'font-family="sans-serif" font-size="13" fill="currentColor"><title>{said}</title>'
        f'<text x="0" y="18" font-weight="600">{said}</text>{"".join(rows)}</svg>'
    )
