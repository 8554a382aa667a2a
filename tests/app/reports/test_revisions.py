import pytest

from app.domain.citations import Citation, marker_of
from app.domain.errors import InvalidInput
from app.domain.evidence import Quote
from app.domain.report import Report, Section
from app.reports.service.findings.charts import draw_charts
from app.reports.service.findings.numbers import find_figures
from app.reports.service.revisions import insert_keys
from app.reports.service.revisions.differences import Change, compare_reports
from tests.app.exports.example_reports import CHINESE, PLAIN, make_quote


def report(*sections: tuple[str, str]) -> Report:
    return Report(title="T", sections=tuple(Section(heading=h, body=b) for h, b in sections), quotes=(PLAIN, CHINESE))


def test_a_diff_shows_the_words_that_came_and_went_with_the_newer_versions_numbers() -> None:
    old = report(("A", f"Duties were low {marker_of(PLAIN)}. 关税很低。"), ("B", "Same."))
    new = report(("A", f"Duties were high {marker_of(CHINESE)}{marker_of(PLAIN)}. 关税很高。"), ("B", "Same."))
    first, second = compare_reports(old, new).sections
    assert (first.change, second.change, second.words) == (Change.CHANGED, Change.SAME, ())
    assert "".join(w.text for w in first.words if w.change is not Change.ADDED) == "Duties were low [2]. 关税很低。"
    assert "".join(w.text for w in first.words if w.change is not Change.REMOVED) == "Duties were high [1][2]. 关税很高。"
    assert [(w.change, w.text) for w in first.words][-3:-1] == [(Change.REMOVED, "低"), (Change.ADDED, "高")]


def test_a_diff_knows_sections_that_came_or_went() -> None:
    old = report(("A", "one two three"), ("B", "four five six"))
    new = report(("A", "one two three"), ("New", "something else altogether"), ("B2", "four five six seven"))
    told = [(s.change, s.old, s.new, s.old_heading) for s in compare_reports(old, new).sections]
    assert told == [(Change.SAME, 0, 0, ""), (Change.ADDED, None, 1, ""), (Change.CHANGED, 1, 2, "B")]
    back = [(s.change, s.old, s.new) for s in compare_reports(new, old).sections]
    assert back == [(Change.SAME, 0, 0), (Change.REMOVED, 1, None), (Change.CHANGED, 2, 1)]


def test_a_readers_numbers_become_keys_and_marks_go() -> None:
    base = report(("A", f"One {marker_of(CHINESE)} two {marker_of(PLAIN)}."))
    assert insert_keys("Two [2]† and one [1].", base) == f"Two {marker_of(PLAIN)} and one {marker_of(CHINESE)}."
    assert insert_keys("Take `argv[1]` [1].", base) == f"Take `argv[1]` {marker_of(CHINESE)}."
    assert insert_keys(f"As stored {marker_of(PLAIN)}; (1890) and [a].", base) == f"As stored {marker_of(PLAIN)}; (1890) and [a]."
    for wrong, why in (("[3]", "numbers go to 2"), ("[[feedfeedfeedfeed]]", "no citation"), ("## Head", "no headings")):
        with pytest.raises(InvalidInput, match=why):
            insert_keys(wrong, base)


def make_citations(*texts: str) -> list[Citation]:
    return [Citation(n=n, quote=_quote(text)) for n, text in enumerate(texts, start=1)]


def _quote(text: str) -> Quote:
    return make_quote(text, "https://example.org")


def test_numbers_are_read_with_unit_and_year_in_two_languages() -> None:
    found = find_figures(
        make_citations(
            "In 1890 duties rose 12.5% to $3 billion.", "截至2010年，人口为1,200万人，面积16平方公里。", "He had 3 ideas in 1900."
        )
    )
    assert [(f.value, f.unit, f.year, f.n) for f in found] == [
        (12.5, "%", 1890, 1),
        (3e9, "US$", 1890, 1),
        (12_000_000, "people", 2010, 2),
        (16, "km²", 2010, 2),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Exports were £2.3bn in 2001.", [(2.3e9, "£", 2001)]),
        ("The basin covers 58 000 km² today.", [(58_000, "km²", None)]),
        ("Im Jahr 2012 waren es 3,2 Mrd. Euro oder 12,5 Prozent.", [(3.2e9, "€", 2012), (12.5, "%", 2012)]),
        ("En 1998, 1,5 million d’habitants vivaient sur 1 234,5 km2.", [(1234.5, "km²", 1998)]),
        ("The loss was ($1.2 million) in 2009.", [(-1.2e6, "US$", 2009)]),
        ("It fell by −3.5% in 2010.", [(-3.5, "%", 2010)]),
        ("Between 5–7 km and 10 to 12 kg were lost.", []),
        ("In 1931 some 1950 people came.", [(1950, "people", 1931)]),
        ("2010年出口为1.2万亿元，增长3个百分点。", [(1.2e12, "元", 2010), (3, "percentage points", 2010)]),
        ("A flow of 300 m³ was measured.", [(300, "m³", None)]),
        ("It took 5 mW, then 3 MW, for 4 m and 2 Hektar.", [(3, "MW", None), (2, "ha", None)]),
        ("It costs Rs 3 lakh, or ₹12,34,567.", [(1_234_567, "₹", None)]),
    ],
)
def test_figures_have_the_value_and_the_unit_that_is_written(text: str, expected: list[tuple[float, str, int | None]]) -> None:
    assert [(f.value, f.unit, f.year) for f in find_figures(make_citations(text))] == expected


@pytest.mark.parametrize(
    "texts",
    [
        ("Exports were 5 tonnes in 1900.", "Exports were 6 tonnes in 1901."),
        ("Exports were 5 tonnes in 1900.", "Exports were 6 tonnes in 1901.", "Exports were 6 tonnes in 1901."),
        ("Exports were 5 tonnes in 1900.", "Wheat imports were 6 tonnes in 1901.", "A whale weighed 7 tonnes in 1902."),
        ("Exports were 5 tonnes in 1900.", "Exports were 6% in 1901.", "Exports were 7 km in 1902."),
        (
            "Exports were 5 tonnes, imports 9 tonnes in 1900.",
            "Exports were 6 tonnes, imports 1 tonnes in 1901.",
            "Exports 7 tonnes.",
        ),
    ],
)
def test_there_is_rather_no_chart_than_a_silly_one(texts: tuple[str, ...]) -> None:
    assert draw_charts(find_figures(make_citations(*texts))) == []


def test_a_chart_says_nothing_that_could_be_markup() -> None:
    texts = [f'Exports <b>& "x"</b> were {n} tonnes in {1900 + n}.' for n in (5, 7, 9)]
    [chart] = draw_charts(find_figures(make_citations(*texts)))
    assert [(p.label, p.value, p.n) for p in chart.points] == [("1905", 5, 1), ("1907", 7, 2), ("1909", 9, 3)]
    assert "<b>" not in chart.svg
