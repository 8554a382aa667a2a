import pytest

from app.domain.missing import Missing
from app.domain.trajectory import TurnKind
from tests.training.rollouts.rollout_groups import make_rollout, make_row
from training.rollouts.groups import Group, ScoredGroup, score_group
from training.rollouts.nouns import RolloutEnd, TrainingRow
from training.rollouts.objectives import Average, Objective, Scale
from training.rollouts.weighted_rows import Totals, weigh_rows

MODEL, TOOL = TurnKind.MODEL, TurnKind.TOOL
MEAN_ONLY = Objective(scale=Scale.NONE)


def score(*pairs: tuple[object, list[TrainingRow]]) -> list[ScoredGroup]:
    group: Group = list(pairs)  # type: ignore[arg-type]
    return [score_group(group, None)]


def test_a_rollout_weighs_the_same_however_its_tokens_are_cut_into_rows() -> None:
    long = make_row([2, *range(3, 9)], 6)
    short = [make_row([2, 3, 4], 2), make_row([2, 3, 4, 5, 6], 4)]
    rows, totals = weigh_rows(score((make_rollout(1.0), [long]), (make_rollout(0.0), short)), MEAN_ONLY)
    weights = [weighted.weight * sum(weighted.row.sampled) for weighted in rows]
    assert weights[0] == pytest.approx(1.0)
    assert sum(weights[1:]) == pytest.approx(1.0)
    assert totals == Totals(rollouts=2, tokens=12)


@pytest.mark.parametrize(("average", "weight"), [(Average.ROLLOUT, 1 / 4), (Average.TOKEN, 1.0), (Average.LENGTH, 1 / 8)])
def test_each_average_weighs_a_token_in_its_own_way(average: Average, weight: float) -> None:
    objective = Objective(scale=Scale.NONE, average=average, length=8)
    rows, _ = weigh_rows(score((make_rollout(1.0), [make_row([2, 3, 4, 5, 6], 4)])), objective)
    assert [weighted.weight for weighted in rows] == [pytest.approx(weight)]


def test_a_rollout_without_rows_counts_in_the_baseline_and_one_without_reward_nowhere() -> None:
    row = make_row([2, 3, 4], 2)
    failed = make_rollout(-1.0, end=RolloutEnd.FAILED)
    groups = score((make_rollout(1.0), [row]), (failed, []), (make_rollout(Missing("away")), [row]))
    rows, totals = weigh_rows(groups, MEAN_ONLY)
    assert [weighted.advantages for weighted in rows] == [(0.0, 1.0, 1.0)]
    assert totals == Totals(rollouts=2, tokens=2)


def test_a_row_that_does_not_end_its_sequence_is_trained_like_any_other() -> None:
    ended, cut = make_row([2, 3, 1], 2), make_row([2, 3, 4], 2)
    rows, _ = weigh_rows(score((make_rollout(1.0), [ended]), (make_rollout(1.0, end=RolloutEnd.CAPPED), [cut])), MEAN_ONLY)
    assert [weighted.weight for weighted in rows] == [0.5, 0.5]


def test_a_capped_rollout_leaves_the_gradient_where_the_objective_says_so() -> None:
    objective = Objective(scale=Scale.NONE, drop_capped=True)
    capped = make_rollout(0.0, end=RolloutEnd.CAPPED)
    rows, totals = weigh_rows(score((make_rollout(1.0), [make_row([2, 3], 1)]), (capped, [make_row([2, 4], 1)])), objective)
    assert [weighted.advantages for weighted in rows] == [(0.0, 0.5)]
    assert totals == Totals(rollouts=2, tokens=1)


def make_two_steps() -> TrainingRow:
    """Make a row of two turns, the first and the third of a trajectory whose second is a tool's."""
    return TrainingRow("a", (2, 3, 4, 5), (False, True, False, True), (0.0, -1.0, 0.0, -1.0), (-1, 0, -1, 2))


def test_a_step_has_its_own_advantage_beside_its_rollout() -> None:
    objective = Objective(scale=Scale.NONE, step_weight=0.5)
    kinds = (MODEL, TOOL, MODEL)
    better = make_rollout(1.0, steps=(0.4, 0.0), kinds=kinds)
    worse = make_rollout(0.0, steps=(0.0, 0.0), kinds=kinds)
    rows, _ = weigh_rows(score((better, [make_two_steps()]), (worse, [make_two_steps()])), objective)
    assert rows[0].advantages == pytest.approx((0.0, 0.5 + 0.5 * 0.3, 0.0, 0.5 - 0.5 * 0.1))
    assert rows[1].advantages == pytest.approx((0.0, -0.5 - 0.5 * 0.1, 0.0, -0.5 - 0.5 * 0.1))


def test_step_rewards_that_do_not_fit_the_turns_are_refused() -> None:
    lacking = make_rollout(1.0, steps=(0.4,), kinds=(MODEL, TOOL, MODEL))
    with pytest.raises(ValueError, match="1 step rewards, 2 model turns"):
        weigh_rows(score((lacking, [make_two_steps()])), Objective(step_weight=1.0))
