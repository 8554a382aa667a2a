"""What a report's evidence shows: the numbers that its quotations give, with charts, and where sources disagree."""

from collections.abc import Sequence

from rubrica_client.models import Chart, Disagreement, Figure, Side
from ui.components.markup import escape, link_html
from ui.language import say, say_name

LABEL = "11rem"
"""The room that the number at a bar's end needs. A longest bar that was cut to leave it would be too short beside the others."""


def figures_html(figures: Sequence[Figure], charts: Sequence[Chart]) -> str:
    """Return the charts, then every number with its statement, as HTML. Each number opens the quotation that gives it."""
    rows = "".join(_figure_html(figure) for figure in figures)
    heads = "".join(f"<th>{escape(say(key))}</th>" for key in ("figures.value", "figures.year", "figures.statement"))
    table = f"<table><thead><tr>{heads}<th></th></tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class="r-report r-findings">{"".join(map(chart_html, charts))}{table}</div>'


def _figure_html(figure: Figure) -> str:
    year = figure.year or ""
    cells = (escape(figure.text), str(year), escape(figure.statement), _number_html(figure.n))
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def chart_html(chart: Chart) -> str:
    """Return one chart as HTML. All bars start at zero and have one unit, so their lengths compare as the numbers do."""
    longest = max((abs(point.value) for point in chart.points), default=0) or 1
    bars = "".join(
        f'<dt>{escape(point.label)}</dt><dd><i style="width:calc((100% - {LABEL}) * {abs(point.value) / longest:.3f})"></i>'
        f"<span>{escape(point.text)} {_number_html(point.n)}</span></dd>"
        for point in chart.points
    )
    title = f'<figcaption>{escape(chart.title)} <span class="r-quiet">{escape(chart.unit)}</span></figcaption>'
    return f"<figure>{title}<dl>{bars}</dl></figure>"


def disagreements_html(disagreements: Sequence[Disagreement]) -> str:
    """Return each dispute as HTML: its subject, what each source says, and why it counts as a dispute."""
    items = "".join(_disagreement_html(item) for item in disagreements)
    return f'<ul class="r-list r-findings">{items}</ul>'


def _disagreement_html(item: Disagreement) -> str:
    kind = f'<span class="r-chip contradicted">{escape(say_name("disagreement", item.kind))}</span>'
    sides = "".join(_side_html(side) for side in item.sides)
    return f'<li>{kind} {escape(item.about)}{sides}<div class="r-quiet">{escape(item.reason)}</div></li>'


def _side_html(side: Side) -> str:
    source = side.quote.source
    line = f"{escape(side.quote.text)} — {link_html(source.url, source.title or source.url)}"
    return f"<blockquote>{line} {_number_html(side.n) if side.n else ''}</blockquote>"


def _number_html(n: int) -> str:
    return f'<button type="button" class="r-cite" data-cite="{n}" aria-label="{escape(say("source.citation", n=n))}">{n}</button>'
