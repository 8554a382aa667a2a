"""Charts stand beside the text that their numbers come from."""

from rubrica_client.models import Chart
from ui.components.charts_in_text import place_charts

TEXT = (
    '<article><section><h2>Then</h2><b data-cite="1"></b></section>'
    '<section><h2>Now</h2><b data-cite="1"></b><b data-cite="2"></b></section></article>'
)


def make_chart(title: str, *numbers: int) -> Chart:
    points = [{"label": str(n), "value": n, "text": str(n), "n": n} for n in numbers]
    return Chart.model_validate({"title": title, "unit": "$", "points": points, "svg": ""})


def test_a_chart_follows_the_section_that_cites_the_most_of_it() -> None:
    html, left = place_charts(TEXT, [make_chart("Revenue", 1, 2), make_chart("Wages", 7)])
    assert html.index("Now</h2>") < html.index("Revenue") < html.rindex("</section>")
    assert "Wages" not in html
    assert [chart.title for chart in left] == ["Wages"], "what no section cites is not lost"
    assert place_charts("<article><p>No heading.</p></article>", left) == ("<article><p>No heading.</p></article>", left)
