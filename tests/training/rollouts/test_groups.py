import pytest

from app.domain.missing import Missing
from tests.training.rollouts.rollout_groups import PlantedGroups, make_rollout, make_row
from training.rewards.score import Score
from training.rollouts.groups import Group, GroupCounts, GroupRules, RewardsMissing, ScoredGroup, TasksOver, take_fit_groups

AWAY = Missing("the judge is away")


def make_group(task: str, *values: Score) -> Group:
    return [(make_rollout(value, task, number), [make_row([2, 3, 4], 1)]) for number, value in enumerate(values)]


def take(source: PlantedGroups, wanted: int, rules: GroupRules, counts: GroupCounts) -> list[ScoredGroup]:
    return take_fit_groups(source, wanted, 0, rules, None, counts)


def test_a_group_with_too_many_missing_rewards_is_asked_for_again() -> None:
    source = PlantedGroups(make_group("a", AWAY, AWAY, 1.0), make_group("b", 0.0, AWAY, 1.0), again=[make_group("a", 0.0, 1.0)])
    counts = GroupCounts()
    groups = take(source, 2, GroupRules(most_missing=0.5), counts)
    assert source.retaken == ["a"]
    assert [scored.group[0][0].task for scored in groups] == ["b", "a"]
    assert groups[0].scores == (0.0, AWAY, 1.0)
    assert counts == GroupCounts(taken=3, asked_again=1, missing_rewards=3)


def test_a_group_without_spread_gives_way_to_another_task() -> None:
    source = PlantedGroups(make_group("flat", 1.0, 1.0), make_group("a", 0.0, 1.0), make_group("b", 0.0, 1.0))
    counts = GroupCounts()
    groups = take(source, 2, GroupRules(least_spread=1e-6), counts)
    assert [scored.group[0][0].task for scored in groups] == ["a", "b"]
    assert (counts.dropped_flat, source.retaken) == (1, [])


def test_without_the_filter_a_group_without_spread_stays() -> None:
    assert len(take(PlantedGroups(make_group("flat", 1.0, 1.0)), 1, GroupRules(), GroupCounts())) == 1


def test_after_its_rounds_a_batch_is_made_of_what_there_is() -> None:
    counts = GroupCounts()
    source = PlantedGroups(make_group("a", 0.0, 1.0), make_group("flat", 1.0, 1.0))
    groups = take(source, 2, GroupRules(least_spread=1e-6, rounds=3), counts)
    assert (len(groups), counts.dropped_flat, counts.not_found, source.taken) == (1, 3, 1, 4)


def test_a_judge_that_stays_away_ends_the_run_and_says_why() -> None:
    away = make_group("a", AWAY, AWAY)
    source = PlantedGroups(away, again=[away, away])
    with pytest.raises(RewardsMissing, match="the judge is away"):
        take(source, 1, GroupRules(rounds=3), GroupCounts())


def test_a_source_without_tasks_ends_the_run() -> None:
    class Exhausted(PlantedGroups):
        def take_groups(self, count: int, policy_version: int) -> list[Group]:
            return []

    with pytest.raises(TasksOver, match="max_steps"):
        take(Exhausted(), 1, GroupRules(), GroupCounts())
