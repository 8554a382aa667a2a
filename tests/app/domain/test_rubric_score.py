"""QSR Eq. 2 as published and bounded: by hand, where the published one breaks, and as laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.missing import Missing
from app.domain.rubric_score import NO_WEIGHT, Aggregation, ScoredItem, bounded_score, published_score, rubric_score

KEY, IMPORTANT = ScoredItem(5, 1.0), ScoredItem(3, 0.5)


def errors(n: int, score: float) -> list[ScoredItem]:
    return [ScoredItem(-2, score)] * n


def test_without_error_criteria_both_are_the_same_mean() -> None:
    assert published_score([KEY, IMPORTANT]) == bounded_score([KEY, IMPORTANT]) == pytest.approx(6.5 / 8)


def test_an_error_that_is_not_made_lifts_the_published_score_above_1() -> None:
    assert published_score([KEY, *errors(1, 0.0)]) == pytest.approx(5 / 3)
    assert bounded_score([KEY, *errors(1, 0.0)]) == 1.0


def test_the_published_score_explodes_near_a_sum_of_zero_and_turns_round_below_it() -> None:
    """Weights 5, 3, -2, -2, -2 sum to 2: three half-made errors of a report that does all else cost it nothing visible."""
    both = [ScoredItem(5, 1.0), ScoredItem(3, 1.0)]
    assert published_score([*both, *errors(3, 0.0)]) == 4.0
    assert published_score([*both, *errors(4, 1.0)]) == NO_WEIGHT
    assert published_score([*both, *errors(5, 0.0)]) == -4.0, "a report without a fault scores below zero"
    assert published_score([ScoredItem(5, 0.0), ScoredItem(3, 0.0), *errors(5, 1.0)]) == 5.0, "and the worst one highest"
    assert bounded_score([*both, *errors(5, 0.0)]) == 1.0
    assert bounded_score([ScoredItem(5, 0.0), *errors(5, 1.0)]) == 0.0
    assert bounded_score([*both, *errors(1, 0.5)]) == pytest.approx(7 / 8)


def test_nothing_asked_is_missing_and_bounded_is_the_default() -> None:
    for items in ([], errors(3, 0.5)):
        assert isinstance(bounded_score(items), Missing)
    assert published_score([]) == NO_WEIGHT
    items = [KEY, *errors(1, 0.0)]
    assert rubric_score(items) == bounded_score(items)
    assert rubric_score(items, Aggregation.PUBLISHED) == published_score(items)


scores = st.floats(0, 1)
rubrics = st.lists(st.builds(ScoredItem, st.sampled_from([5, 4, 3, 2, 1, -1, -2]), scores), min_size=1, max_size=20)


@given(rubrics, st.integers(0, 19), scores)
def test_the_bounded_score_is_bounded_monotone_and_knows_no_order(items: list[ScoredItem], place: int, score: float) -> None:
    found = bounded_score(items)
    if isinstance(found, Missing):
        assert all(item.weight < 0 for item in items)
        return
    assert 0.0 <= found <= 1.0
    assert bounded_score(items[::-1]) == pytest.approx(found)
    weight, before = items[place % len(items)]
    better = [*items]
    better[place % len(items)] = ScoredItem(weight, max(score, before) if weight > 0 else min(score, before))
    other = bounded_score(better)
    assert not isinstance(other, Missing)
    assert other >= found - 1e-12
    if all(item.weight > 0 for item in items):
        assert published_score(items) == pytest.approx(found)
