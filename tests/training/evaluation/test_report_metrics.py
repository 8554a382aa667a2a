"""The figures of reports, by hand over two of them in either language."""

from datetime import date

import pytest

from app.domain.missing import Missing
from app.domain.query import Language
from training.evaluation.report_metrics import MeasuredReport, count_report, measure_reports

WRITTEN = date(2026, 6, 15)
SOUND = """# Tariffs

## Revenue

Rates on imported wool rose in 1828 [1]. By 2030 the duty will cover half of the budget [1].

| Year | Rate |
|---|---|
| 1828 | 61 [1] |

## Sources

[1] A message
"""
POOR = """# 关税

### 收入

到2024年，关税收入将达到一千亿元。However, the rates on wool were never lowered again after that year.

| 年份 | 税率 |
| 1828 | 61 |

##

一八二八年的关税法大幅提高了进口羊毛和麻的税率[q3]。

一八二八年的关税法大幅提高了进口羊毛与麻的税率。

1. 甲方面的情况
3. 乙方面的情况
"""


def test_two_reports_by_hand() -> None:
    sound = MeasuredReport(SOUND, WRITTEN, planned=("Revenue",))
    poor = MeasuredReport(POOR, WRITTEN, planned=("收入", "保护"), language=Language.CHINESE)
    one, two = count_report(sound), count_report(poor)
    assert (one.tense_errors, one.expression_issues, one.hierarchy_errors, one.missed_titles, one.faulty_tables) == (
        0,
        0,
        0,
        0,
        0,
    )
    assert (two.tense_errors, two.language_breaks, two.repeats) == (1, 1, 1)
    assert (two.hierarchy_errors, two.empty_titles, two.missed_titles) == (1, 1, 1)
    figures = measure_reports([sound, poor])
    assert (figures.reports, figures.reports_with_tense_errors, figures.hierarchy_errors) == (2, 0.5, 0.5)
    statements = one.statements + two.statements
    assert figures.tense_error_rate == pytest.approx(1 / statements)
    assert figures.expression_issue_rate == pytest.approx(2 / statements)
    assert figures.title_miss_rate == pytest.approx(2 / (2 + 3 + 1))
    assert (figures.table_errors, figures.table_errors_after_repair, figures.valid_tables) == (0.5, 0.0, 0.5)
    assert (figures.markdown_sound, figures.citations_sound) == (0.5, 0.5)


def test_nothing_to_take_a_share_of_is_missing() -> None:
    figures = measure_reports([MeasuredReport("", WRITTEN)])
    for rate in (figures.tense_error_rate, figures.table_errors, figures.valid_tables, figures.title_miss_rate):
        assert isinstance(rate, Missing)
    with pytest.raises(ValueError, match="no report"):
        measure_reports([])
