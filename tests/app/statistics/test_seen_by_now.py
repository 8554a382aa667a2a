"""What votes could have shown by now: the published facts, and the exact chances against a simulation."""

import random

import pytest

from app.statistics.beta_mixture import is_below
from app.statistics.seen_by_now import find_median_votes, find_smallest_loss, list_seen_chances


def test_a_loss_of_30_to_70_is_seen_after_47_votes_and_one_of_45_to_55_not_in_400() -> None:
    assert find_median_votes(0.3, 400) == 47
    assert find_median_votes(0.45, 400) is None


def test_chances_are_those_of_a_simulation() -> None:
    votes, seen = random.Random(1), 0
    for _ in range(2_000):
        wins = 0
        for n in range(1, 81):
            wins += votes.random() < 0.35
            if is_below(wins, n - wins, 0.5):
                seen += 1
                break
    assert seen / 2_000 == pytest.approx(list_seen_chances(0.35, 80)[-1], abs=0.025)


def test_equal_reports_are_shown_to_lose_in_at_most_half_of_alpha() -> None:
    chances = list_seen_chances(0.5, 1_000)
    assert chances == sorted(chances)
    assert 0.01 < chances[-1] <= 0.025


def test_the_smallest_loss_comes_nearer_to_a_half_with_more_votes() -> None:
    assert find_smallest_loss(5) is None
    losses = [find_smallest_loss(votes) for votes in (10, 47, 100, 400)]
    assert losses == sorted(losses, key=float)
    assert losses[1] == pytest.approx(0.3, abs=0.005)
    assert losses[3] is not None
    assert list_seen_chances(losses[3], 400)[-1] == pytest.approx(0.5, abs=1e-6)
