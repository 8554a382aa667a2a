"""The trainer's source of groups: weights, versions, rows and a restart."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from tests.training.rollouts.small_rollouts import USUAL_WORK, make_tasks
from training.rollouts.collect import Collector
from training.rollouts.collected_groups import CollectedGroups
from training.rollouts.collector_settings import CollectorSettings
from training.rollouts.collector_state import CollectorState
from training.rollouts.nouns import Rollout, TrainingRow


@asynccontextmanager
async def open_collector(state: CollectorState) -> AsyncIterator[Collector[int]]:
    async with Collector(make_tasks(), USUAL_WORK, CollectorSettings(group_size=2, groups_a_step=2), state) as collector:
        yield collector


def make_row(rollout: Rollout) -> Sequence[TrainingRow]:
    return [TrainingRow("policy", (1, rollout.number), (False, True), (0.0, -1.0), (-1, 0), rollout.policy_version)]


def test_each_version_of_the_policy_samples_its_own_groups() -> None:
    given: list[int] = []
    with CollectedGroups(open_collector, make_row, given.append) as source:
        first = source.take_groups(2, 0)
        second = source.take_groups(2, 4)
    assert given == [0, 4]
    assert [[rollout.task for rollout, _ in group] for group in first] == [["t0", "t0"], ["t1", "t1"]]
    assert {rows[0].policy_version for group in second for _, rows in group} == {4}
    assert first[0][1][1][0].ids == (1, 1)


def test_a_restart_goes_on_after_the_groups_that_were_taken() -> None:
    with CollectedGroups(open_collector, make_row, lambda _: None) as source:
        source.take_groups(2, 0)
        kept = source.save_state()
        with pytest.raises(RuntimeError, match="has begun"):
            source.load_state(kept)
    with CollectedGroups(open_collector, make_row, lambda _: None) as source:
        source.load_state(kept)
        (group,) = source.take_groups(1, 8)
        assert (group[0][0].task, group[0][0].policy_version) == ("t2", 8)
        assert source.save_state()["counts"]["handed_over"] == 3
