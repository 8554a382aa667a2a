"""Predictions of what is past: labelled sentences, periods by hand, and who made a forecast."""

from datetime import date
from pathlib import Path

import pytest

from bench.tense import BUILT, UNSEEN, measure_stages, read_sentences
from workflows.checks.tense import find_past_predictions, find_tense_errors

TODAY = date(2026, 6, 15)
BOTH_STAGES, RECALL_UNSEEN = 0.95, 0.92


@pytest.mark.parametrize(("path", "recall"), [(BUILT, BOTH_STAGES), (UNSEEN, RECALL_UNSEEN)])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_labelled_sentences(path: Path, recall: float, language: str) -> None:
    rows = [row for row in read_sentences(path) if row.language == language]
    assert len(rows) >= 80
    _, both = measure_stages(rows)
    assert both.recall >= recall
    assert both.precision >= BOTH_STAGES


@pytest.mark.parametrize(
    "sentence",
    [
        "Sales for 2024 are projected at 5 billion.",
        "With sales projected to reach 5 billion by 2024, the sector attracts investors.",
        "Completion is now not expected until 2024.",
        "Ferry fares may double in 2024.",
        "From 2019 to 2024, revenue will grow by a tenth a year.",
        "2025 will be a decisive year.",
        "The dam, whose reservoir will flood 30 villages by 2022, divides the region.",
        "The fund lost money in 2022 and will close in 2024.",
        "該航線將於2025年3月復航。",
        "公司已建成三座工厂，2024年将再建两座。",
        "预计2020-2025年该市场年复合增长率为11.2%。",
    ],
)
def test_what_speaks_of_the_past_as_still_to_come(sentence: str) -> None:
    assert len(find_tense_errors(sentence, TODAY)) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "Saudi Arabia's Vision 2030 and the projects of Horizon 2020 will be audited.",
        "The decline in 2024 is due to higher rates.",
        "The market is expected to grow from 5 billion in 2024 to 9 billion by 2032.",
        "This section will review progress made between 2019 and 2024.",
        "The plant will employ over 2000 people.",
        "Passengers could choose between three classes in 1935.",
        "The debris may date from 2020.",
        "Figures for 2024 will be published next month.",
        "In the novel, published in 1949, the state will watch everyone by 1984.",
        "2022年发放的贷款，利率将十年不变。",
        "2018年10月24日，总体规划评审会召开。",
        "2022年，公司将总部大楼出售给一家基金。",
        "2018年，市长宣布车站将增设电梯。",
    ],
)
def test_what_predicts_nothing_past(sentence: str) -> None:
    assert find_past_predictions(sentence, TODAY) == []


def test_the_place_of_an_error_is_told() -> None:
    text = "Sales rose. By 2024 the market will double. Prices fell."
    found = find_tense_errors(text, TODAY)
    assert [(text[e.start : e.end], e.period, e.until) for e in found] == [
        ("By 2024 the market will double.", "By 2024", date(2024, 12, 31))
    ]


def test_a_forecaster_two_sentences_off_counts_and_three_do_not() -> None:
    near = "According to Gartner, growth is steady. Prices are flat. By 2024 the market will double."
    far = "According to Gartner, growth is steady. Prices are flat. Wages are, too. By 2024 the market will double."
    assert find_tense_errors(near, TODAY) == []
    assert len(find_tense_errors(far, TODAY)) == 1
    assert len(find_past_predictions(near, TODAY)) == 1


def test_the_day_of_writing_decides() -> None:
    sentence = "By 2024 the market will double."
    assert find_tense_errors(sentence, date(2024, 12, 31)) == []
    assert len(find_tense_errors(sentence, date(2025, 1, 1))) == 1


def test_long_and_odd_texts_are_read_in_reasonable_time() -> None:
    assert find_tense_errors("will " * 20_000, TODAY) == []
    assert find_tense_errors("将" * 20_000 + "2024年", TODAY) == []
    assert find_tense_errors("in 2024, " * 5_000, TODAY) == []
