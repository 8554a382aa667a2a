"""Periods that sentences name, each with the day on which it is over."""

from datetime import date

import pytest

from retrieval.language.periods import find_periods

TODAY = date(2026, 6, 15)


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("by 2025", date(2025, 12, 31)),
        ("before 2025", date(2024, 12, 31)),
        ("in 2024Q3", date(2024, 9, 30)),
        ("in Q3 2024", date(2024, 9, 30)),
        ("in the second half of 2024", date(2024, 12, 31)),
        ("by mid-2025", date(2025, 7, 31)),
        ("in early 2025", date(2025, 4, 30)),
        ("by the end of February 2024", date(2024, 2, 29)),
        ("on 3 May 2025", date(2025, 5, 3)),
        ("on May 3, 2025", date(2025, 5, 3)),
        ("in 2020–2025", date(2025, 12, 31)),
        ("between 2020 and 2025", date(2025, 12, 31)),
        ("in 2020-25", date(2025, 12, 31)),
        ("from 2019 to 2024", date(2024, 12, 31)),
        ("over the 2020–2025 period", date(2025, 12, 31)),
        ("in H2 2024", date(2024, 12, 31)),
        ("in the first week of May 2025", date(2025, 5, 31)),
        ("by Sept. 2025", date(2025, 9, 30)),
        ("by 2024/25", date(2025, 12, 31)),
        ("on 2024-05-06", date(2024, 5, 6)),
        ("2024年第三季度", date(2024, 9, 30)),
        ("2025年上半年", date(2025, 6, 30)),
        ("2025年12月", date(2025, 12, 31)),
        ("2026年1月1日", date(2026, 1, 1)),
        ("2020—2025年", date(2025, 12, 31)),
        ("2025年底", date(2025, 12, 31)),
        ("last year", date(2026, 6, 14)),
        ("明年", date(2026, 6, 16)),
    ],
)
def test_periods(text: str, until: date) -> None:
    assert [period.until for period in find_periods(f"It will happen {text} somewhere.", TODAY)] == [until]


@pytest.mark.parametrize(
    "text",
    [
        "the 2024 edition",
        "in 2024% of cases",
        "a code of 20245",
        "on 31 February 2024",
        "in the 2020s",
        "by 2000 tonnes",
        "over 2000 homes",
        "Vision 2030",
        "2024年版",
        "1950年代",
    ],
)
def test_what_dates_nothing(text: str) -> None:
    assert find_periods(f"It will be {text} somewhere.", TODAY) == []


def test_a_sentence_of_both_languages_names_its_periods_in_order() -> None:
    text = "In March 2024 the IMF said that GDP would double by 2030 (国际货币基金组织：到2027年上半年，增长将放缓)."
    found = find_periods(text, TODAY)
    assert [text[period.start : period.end] for period in found] == ["In March 2024 ".strip(), "by 2030", "2027年上半年"]
    assert [period.until for period in found] == [date(2024, 3, 31), date(2030, 12, 31), date(2027, 6, 30)]
