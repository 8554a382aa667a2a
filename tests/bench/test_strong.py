"""What is counted of grades and calls of a strong model's reports."""

import pytest

from bench.strong import CASES, DIMENSIONS, collect_figures, compare, measure_ratios


def grades(report: float, seen: float, best: float) -> dict[str, dict[str, float]]:
    return {name: dict.fromkeys(DIMENSIONS, grade) for name, grade in (("report", report), ("seen", seen), ("best", best))}


def test_half_a_point_of_the_readers_mean_is_a_tie() -> None:
    assert compare([grades(8, 8, 6), grades(7, 8, 7)]) == {"tied": 4, "won": 4}
    assert compare([grades(7, 8, 7)]) == {"lost": 4, "tied": 4}


def test_two_writings_of_a_report_are_one() -> None:
    twice = grades(8, 7, 6) | {"report_2": dict.fromkeys(DIMENSIONS, 6)}
    assert compare([twice]) == {"tied": 4, "won": 4}


def test_what_repeats_an_earlier_beginning_is_billed_a_tenth() -> None:
    calls = {
        "report": [{"prompt": 900, "repeated": 0, "answer": 100}, {"prompt": 1_000, "repeated": 900, "answer": 0}],
        "seen": [{"prompt": 900, "repeated": 0, "answer": 100}],
    }
    assert measure_ratios(calls) == pytest.approx((2.0, 1.19))


@pytest.mark.parametrize("cases", ["strong", "strong_after"])
def test_the_figures_of_the_stored_cases_can_be_computed(cases: str) -> None:
    figures = collect_figures(CASES.parent / cases)
    assert figures["won"] + figures["tied"] + figures["lost"] == figures["questions"] * 8
    assert 0 <= figures.get("carried", 1) <= 1
