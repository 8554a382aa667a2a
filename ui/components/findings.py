"""What a report's evidence shows: the numbers that its quotations give, with charts, and where sources disagree."""

from collections.abc import Sequence

from rubrica_client.models import Chart, Disagreement, Figure, FigurePage, Side
from ui.components.markup import link, text
from ui.language import named, say


def figures_html(page: FigurePage) -> str:
    """Return the charts, then every number with its statement, as HTML. Each number opens the quotation that gives it."""
    rows = "".join(_row(figure) for figure in page.items)
    heads = "".join(f"<th>{text(say(key))}</th>" for key in ("figures.value", "figures.year", "figures.statement"))
    table = f"<table><thead><tr>{heads}<th></th></tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class="r-report r-findings">{"".join(_chart(chart) for chart in page.charts)}{table}</div>'


def _row(figure: Figure) -> str:
    year = figure.year or ""
    return f"<tr><td>{text(figure.text)}</td><td>{year}</td><td>{text(figure.statement)}</td><td>{_number(figure.n)}</td></tr>"


def _chart(chart: Chart) -> str:
    """Return one chart as HTML. All bars start at zero and have one unit, so their lengths compare as the numbers do."""
    longest = max((abs(point.value) for point in chart.points), default=0) or 1
    bars = "".join(
        f'<dt>{text(point.label)}</dt><dd><i style="width:{abs(point.value) / longest:.1%}"></i>'
        f"<span>{text(point.text)} {_number(point.n)}</span></dd>"
        for point in chart.points
    )
    title = f'<figcaption>{text(chart.title)} <span class="r-quiet">{text(chart.unit)}</span></figcaption>'
    return f"<figure>{title}<dl>{bars}</dl></figure>"


def disagreements_html(disagreements: Sequence[Disagreement]) -> str:
    """Return each dispute as HTML: its subject, what each source says, and why it counts as a dispute."""
    items = "".join(_dispute(item) for item in disagreements)
    return f'<ul class="r-list r-findings">{items}</ul>'


def _dispute(item: Disagreement) -> str:
    kind = f'<span class="r-chip contradicted">{text(named("disagreement", item.kind))}</span>'
    sides = "".join(_side(side) for side in item.sides)
    return f'<li>{kind} {text(item.about)}{sides}<div class="r-quiet">{text(item.reason)}</div></li>'


def _side(side: Side) -> str:
    source = side.quote.source
    line = f"{text(side.quote.text)} — {link(source.url, source.title or source.url)}"
    return f"<blockquote>{line} {_number(side.n) if side.n else ''}</blockquote>"


def _number(n: int) -> str:
    return f'<button type="button" class="r-cite" data-cite="{n}" aria-label="{text(say("source.citation", n=n))}">{n}</button>'
