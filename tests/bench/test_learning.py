"""The figures of the learning bench."""

import pytest

from bench.learning import summarise
from bench.learning_tasks.protocol import PolicyScores, SeedScores


def make_seed(gain: float) -> SeedScores:
    """Return a seed in which every item gains this much."""
    before, after = (PolicyScores({str(n): n / 20 + more for n in range(10)}) for more in (0.0, gain))
    return SeedScores(before, before, after, before)


def test_one_lucky_seed_does_not_make_a_recipe_learn() -> None:
    figures = summarise("r", [make_seed(0.4), make_seed(0.0), make_seed(-0.01)])
    assert figures["r_ci_low"] > 0
    assert figures["r_least_gain"] == pytest.approx(-0.01)
