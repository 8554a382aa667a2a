"""Charts in a report's text, each after the section that cites the most of its numbers."""

from collections.abc import Sequence

from rubrica_client.models import Chart
from ui.components.evidence_view import chart_html

SECTION_END = "</section>"


def place_charts(html: str, charts: Sequence[Chart]) -> tuple[str, list[Chart]]:
    """Return the report's HTML with charts in it, and those that no section cites."""
    parts = html.split(SECTION_END)
    sections = parts[:-1]  # what follows the last end is no section
    placed: dict[int, str] = {}
    left: list[Chart] = []
    for chart in charts:
        counts = [sum(f'data-cite="{point.n}"' in section for point in chart.points) for section in sections]
        if not any(counts):
            left.append(chart)
            continue
        best = counts.index(max(counts))
        placed[best] = placed.get(best, "") + chart_html(chart)
    for place, charts_html in placed.items():
        parts[place] += f'<div class="r-findings">{charts_html}</div>'
    return SECTION_END.join(parts), left
