"""How often 95% intervals cover the truth, simulated with a fixed seed; and how often equal systems are called different."""

import math
import random
from collections.abc import Callable
from statistics import fmean, stdev

import pytest

from app.domain.missing import Missing
from training.evaluation.harness.comparison import FEWEST_TO_CALL, Difference, compare_runs, word_verdict
from training.evaluation.harness.example import Benchmark
from training.evaluation.harness.figures import means_of, ratio_of
from training.evaluation.harness.scores import ItemScores, item_scores_of
from training.evaluation.intervals import Interval, estimate_difference, estimate_figure, student_quantile
from training.evaluation.preference_metrics import cohens_d, preference_accuracy

TRIALS = 1_000
Draw = Callable[[random.Random], float]
KINDS: dict[str, tuple[Draw, float]] = {
    "normal": (lambda dice: dice.gauss(0.5, 1.0), 0.5),
    "scores": (lambda dice: dice.betavariate(2, 5), 2 / 7),
    "skewed": (lambda dice: dice.expovariate(1.0), 1.0),
    "heavy": (lambda dice: dice.lognormvariate(0.0, 1.0), math.exp(0.5)),
    "share .5": (lambda dice: float(dice.random() < 0.5), 0.5),
    "share .2": (lambda dice: float(dice.random() < 0.2), 0.2),
}
HOLDS = (0.93, 0.97)
OTHERWISE = {
    ("skewed", 5): (0.90, 0.95),
    ("heavy", 5): (0.86, 0.93),
    ("heavy", 10): (0.88, 0.95),
    ("heavy", 20): (0.90, 0.95),
    ("share .5", 10): (0.97, 0.985),
}
"""Where other than 93% to 97% of the intervals cover the truth: few items of very skewed data, and steps of Wilson's."""


def cover(draw: Draw, truth: float, n: int) -> float:
    dice = random.Random(n)
    found = (estimate_figure(fmean, [draw(dice) for _ in range(n)]) for _ in range(TRIALS))
    return sum(isinstance(one, Interval) and one.low <= truth <= one.high for one in found) / TRIALS


@pytest.mark.parametrize("n", [5, 10, 20, 50])
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_cover_as_often_as_they_say(kind: str, n: int) -> None:
    least, most = OTHERWISE.get((kind, n), HOLDS)
    assert least <= cover(*KINDS[kind], n) <= most


@pytest.mark.parametrize("n", [20, 50])
def test_an_effect_size_and_a_ratio_are_covered_too(n: int) -> None:
    dice, covered = random.Random(n), [0, 0]
    ratio = ratio_of("part", "whole")
    for _ in range(TRIALS // 2):
        effect = estimate_figure(cohens_d, [dice.gauss(0.5, 1.0) for _ in range(n)])
        wholes = [dice.randint(1, 9) for _ in range(n)]
        rows = [{"part": sum(dice.random() < 0.7 for _ in range(whole)), "whole": whole} for whole in wholes]
        share = estimate_figure(ratio.of, rows)
        for at, (one, truth) in enumerate(((effect, 0.5), (share, 0.7))):
            covered[at] += isinstance(one, Interval) and one.low <= truth <= one.high
    assert 0.95 <= covered[0] / (TRIALS // 2) <= 0.99, "an effect size of few pairs has a wide interval"
    assert 0.93 <= covered[1] / (TRIALS // 2) <= 0.97


def test_many_items_of_a_ratio_are_taken_in_groups() -> None:
    """The same interval as by the ratio's own formula: the deviation of part - ratio * whole, over the mean whole."""
    dice, ratio = random.Random(3), ratio_of("part", "whole")
    rows = [{"whole": float(dice.randint(1, 9)), "part": float(dice.randint(0, 9))} for _ in range(1_000)]
    found = estimate_figure(ratio.of, rows)
    assert isinstance(found, Interval)
    residuals = [row["part"] - found.value * row["whole"] for row in rows]
    half = 1.96 * stdev(residuals) / math.sqrt(len(rows)) / fmean(row["whole"] for row in rows)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.15)


def compare(first: list[float], second: list[float]) -> Difference:
    def scores(values: list[float]) -> list[ItemScores]:
        return [item_scores_of(str(at), {"value": value}) for at, value in enumerate(values)]

    benchmark = Benchmark("b", "", lambda _: [], lambda _: [], None, means_of("value"))  # type: ignore[arg-type]
    return compare_runs(benchmark, scores(first), scores(second))[0]


@pytest.mark.parametrize("n", [1, 3, 10, 19, 20, 50])
@pytest.mark.parametrize("kind", KINDS)
def test_equal_systems_are_seldom_called_different(kind: str, n: int) -> None:
    dice, draw = random.Random(n), KINDS[kind][0]
    called = sum(compare([draw(dice) for _ in range(n)], [draw(dice) for _ in range(n)]).clear for _ in range(TRIALS // 4))
    assert called / (TRIALS // 4) <= (0.08 if n >= FEWEST_TO_CALL else 0.0)


def test_systems_that_differ_are_called_different_and_few_items_are_told() -> None:
    dice = random.Random(0)
    first = [dice.gauss(0.4, 0.05) for _ in range(30)]
    better = compare(first, [value + dice.gauss(0.1, 0.05) for value in first])
    assert better.clear
    assert word_verdict([better]) == "Clearly different: value."
    few = compare(first[:10], [value + 0.1 for value in first[:10]])
    assert not few.clear
    assert word_verdict([few]).endswith("Fewer than 20 items are too few to call two systems different: value.")


def test_intervals_by_hand() -> None:
    """Eight of ten by Wilson; Student's over 1 to 5, whose deviation is 1.5811 and whose quantile is 2.7764."""
    share = estimate_figure(preference_accuracy, [1.0] * 8 + [-1.0] * 2)
    assert share == Interval(0.8, pytest.approx(0.4902, abs=1e-4), pytest.approx(0.9433, abs=1e-4))
    half = 2.7764 * 1.5811 / math.sqrt(5)
    for found in (estimate_figure(fmean, [1, 2, 3, 4, 5]), estimate_difference(fmean, [1, 2, 3, 4, 5])):
        assert found == Interval(3, pytest.approx(3 - half, abs=2e-3), pytest.approx(3 + half, abs=2e-3))
    assert [round(student_quantile(n), 2) for n in (1, 2, 3, 4, 9, 29)] == [12.71, 4.30, 3.18, 2.78, 2.26, 2.05]
    skewed = estimate_figure(fmean, [0.1, 0.1, 0.2, 0.1, 0.3, 1.9])
    assert isinstance(skewed, Interval)
    assert skewed.high - skewed.value > skewed.value - skewed.low


def test_what_has_no_interval_says_so() -> None:
    assert estimate_figure(fmean, [0.4]) == Missing("one item has no interval")
    assert estimate_figure(cohens_d, [0.4, 0.4]) == Missing("all differences are the same")
    assert estimate_figure(preference_accuracy, []) == Missing("no pairs")


def test_what_is_no_number_is_an_error() -> None:
    for broken in (lambda: estimate_figure(fmean, [0.1, math.nan]), lambda: estimate_difference(fmean, [0.1, math.inf])):
        with pytest.raises(ValueError, match="no number"):
            broken()
    for metric in (preference_accuracy, cohens_d):
        with pytest.raises(ValueError, match="no number"):
            metric([0.1, math.nan])
    with pytest.raises(ValueError, match="finite number"):
        item_scores_of("1", {"value": math.nan})


def test_cohens_d_by_hand() -> None:
    """The mean is 2; the deviation of the sample is the root of 2, that of the population 1."""
    assert cohens_d([1.0, 3.0]) == pytest.approx(2 / stdev([1.0, 3.0])) == pytest.approx(math.sqrt(2))
    assert cohens_d([1.0, 3.0], published=True) == 2.0
    assert cohens_d([-1.0, 1.0]) == 0.0
    assert isinstance(cohens_d([0.4, 0.4]), Missing)
    assert isinstance(cohens_d([0.4]), Missing)
