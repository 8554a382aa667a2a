import pytest

from app.domain.missing import Missing
from training.rollouts.advantages import compute_advantages, compute_step_advantages, measure_spread, read_score
from training.rollouts.nouns import Reward
from training.rollouts.objectives import Objective, Scale


def test_an_advantage_is_what_a_rollout_has_over_its_group() -> None:
    assert compute_advantages([1.0, 0.0, 0.5], Scale.NONE) == [0.5, -0.5, 0.0]
    scaled = compute_advantages([1.0, 0.0, 0.5], Scale.GROUP)
    assert scaled == pytest.approx([1.0, -1.0, 0.0], abs=1e-3)


def test_a_missing_reward_leaves_the_baseline_and_has_no_advantage() -> None:
    assert compute_advantages([1.0, Missing("away"), 0.0], Scale.NONE) == [0.5, None, -0.5]
    assert compute_advantages([Missing("away")] * 2, Scale.NONE) == [None, None]


def test_a_group_of_equals_has_no_advantage() -> None:
    assert compute_advantages([0.3, 0.3], Scale.GROUP) == pytest.approx([0.0, 0.0])
    assert measure_spread([1.0]) == 0.0


def test_a_step_is_held_against_all_steps_of_its_group() -> None:
    assert compute_step_advantages([(1.0, 0.0), (), (-1.0,)], Scale.NONE) == [(1.0, 0.0), (), (-1.0,)]
    assert compute_step_advantages([(), ()], Scale.GROUP) == [(), ()]


def test_weights_choose_among_the_parts_of_a_reward() -> None:
    reward = Reward(9.0, {"tool": 1.0, "answer": Missing("no judge")})
    assert read_score(reward, None) == 9.0
    assert read_score(reward, {"tool": 0.5, "answer": 0.0}) == 0.5
    assert isinstance(read_score(reward, {"tool": 0.5, "answer": 0.5}), Missing)
    assert isinstance(read_score(reward, {"style": 1.0}), Missing)
    assert isinstance(read_score(Reward(float("nan")), None), Missing)


@pytest.mark.parametrize("wrong", [{"clip_low": 1.5}, {"clip_high": -0.1}, {"kl_weight": -1.0}, {"length": 0}])
def test_an_objective_without_meaning_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="at least 0"):
        Objective(**wrong)  # type: ignore[arg-type]
