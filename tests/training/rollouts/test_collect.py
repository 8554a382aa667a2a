"""The collector: what it hands over, in which order, from which policy, and what failures and faults cost."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from app.domain.chat import ToolCall, ToolResult
from app.domain.errors import ToolError
from app.domain.missing import Missing
from app.outgoing.errors import PageUnavailable
from tests.training.rollouts.small_rollouts import (
    USUAL_WORK,
    HeldWork,
    ask_policy,
    judge_by_number,
    let_others_run,
    make_tasks,
)
from training.rollouts.collect import Collector
from training.rollouts.collection_failures import CollectionFailed
from training.rollouts.collector_settings import CollectorSettings, Handover
from training.rollouts.collector_state import CollectorState
from training.rollouts.nouns import Reward, Rollout, RolloutEnd, Task
from training.rollouts.rollout_work import Draw, RolloutGroup, RolloutOutcome, RolloutWork
from workflows.systems.local_record import LocalRecord

THREE = CollectorSettings(groups_a_step=1, group_size=3)
TWO_AHEAD = CollectorSettings(groups_a_step=2, group_size=1, most_versions_old=1)


def places_of(groups: tuple[RolloutGroup[int], ...]) -> list[int]:
    return [group.position for group in groups]


async def test_a_group_has_all_samples_of_a_task_with_their_turns_and_rewards() -> None:
    async with Collector(make_tasks(), USUAL_WORK, THREE) as collector:
        first, second = await collector.next_batch(2)
    assert (first.task.id, second.task.id) == ("t0", "t1")
    assert [rollout.number for rollout in first.rollouts] == [0, 1, 2]
    assert [rollout.reward.value for rollout in first.rollouts] == [0.0, 1.0, 2.0]
    assert all(len(rollout.trajectory.turns) == 1 for rollout in first.rollouts)
    assert len({rollout.output for group in (first, second) for rollout in group.rollouts}) == 6


async def test_the_same_seed_gives_the_same_rollouts() -> None:
    async def collect(seed: int) -> tuple[RolloutGroup[int], ...]:
        settings = CollectorSettings(groups_a_step=2, group_size=2, handover=Handover.IN_TASK_ORDER, seed=seed)
        async with Collector(make_tasks(), USUAL_WORK, settings) as collector:
            return await collector.next_batch(3)

    def outputs_of(groups: tuple[RolloutGroup[int], ...]) -> list[str]:
        return [rollout.output for group in groups for rollout in group.rollouts]

    assert outputs_of(await collect(1)) == outputs_of(await collect(1)) != outputs_of(await collect(2))


async def test_all_rollouts_of_a_batch_run_at_once_and_no_judge_waits_for_another_rollout() -> None:
    together, judged = asyncio.Barrier(6), asyncio.Event()

    async def run(draw: Draw[int], record: LocalRecord) -> RolloutOutcome:
        await together.wait()
        if (draw.position, draw.number) != (0, 0):
            await judged.wait()
        return await ask_policy(draw, record)

    async def judge(task: Task[int], rollout: Rollout) -> Reward:
        judged.set()
        return await judge_by_number(task, rollout)

    async with Collector(make_tasks(), RolloutWork(run, judge), THREE) as collector:
        assert len(await collector.next_batch(2)) == 2


async def test_a_rollout_that_fails_costs_itself_and_keeps_its_turns() -> None:
    async def run(draw: Draw[int], record: LocalRecord) -> RolloutOutcome:
        outcome = await ask_policy(draw, record)
        if draw.number == 1:
            raise KeyError("a bug of an agent")
        return outcome

    async with Collector(make_tasks(), RolloutWork(run, judge_by_number), THREE) as collector:
        (group,) = await collector.next_batch(1)
        assert (collector.counts.finished, collector.counts.failed) == (2, 1)
    failed = group.rollouts[1]
    assert (failed.end, failed.output) == (RolloutEnd.FAILED, "")
    assert "a bug of an agent" in failed.detail
    assert len(failed.trajectory.turns) == 1
    assert failed.reward.value == 1.0


async def test_a_server_that_stays_away_is_no_fault_of_the_policy() -> None:
    class Index:
        name, description = "search", ""
        parameters: Mapping[str, object] = {}

        async def call(self, arguments: Mapping[str, object]) -> ToolResult:
            raise PageUnavailable("the index is away", retry_after=timedelta(days=1))

    async def run(draw: Draw[int], record: LocalRecord) -> RolloutOutcome:
        outcome = await ask_policy(draw, record)
        if draw.number == 1:
            with suppress(ToolError):  # as an agent does that goes on with what it has
                await record.use("policy", Index(), ToolCall(name="search", arguments={}))
        return outcome

    async with Collector(make_tasks(), RolloutWork(run, judge_by_number), replace(THREE, most_missing_share=0.5)) as collector:
        (group,) = await collector.next_batch(1)
    assert [rollout.reward.value for rollout in group.rollouts] == [0.0, Missing("the index is away"), 2.0]
    assert group.rollouts[1].end is RolloutEnd.FAILED


async def test_leaving_the_collector_cancels_what_runs_and_counts_no_failure() -> None:
    held = HeldWork()
    async with Collector(make_tasks(), held.work, TWO_AHEAD) as collector:
        asking = asyncio.create_task(collector.next_batch(2))
        await let_others_run()
        asking.cancel()
    assert held.cancelled == len(held.begun) == 4
    assert collector.counts.failed == 0


async def test_synchronous_groups_are_those_of_a_step_and_none_begins_while_the_trainer_steps() -> None:
    held = HeldWork(lambda _: False)
    async with Collector(make_tasks(), held.work, CollectorSettings(groups_a_step=2, group_size=1)) as collector:
        await collector.next_batch(1)
        await collector.next_batch(1)
        await let_others_run()
        assert held.begun == [(0, 0, 0), (1, 0, 0)]
        collector.set_policy_version(1)
        assert [group.policy_version for group in await collector.next_batch(2)] == [1, 1]
    assert held.begun[2:] == [(2, 0, 1), (3, 0, 1)]
    assert collector.counts.staleness == {0: 4}


async def test_one_batch_is_sampled_while_the_trainer_steps_where_one_version_is_allowed() -> None:
    held = HeldWork(lambda _: False)
    async with Collector(make_tasks(), held.work, TWO_AHEAD) as collector:
        await collector.next_batch(2)
        await let_others_run()
        assert [position for position, _, _ in held.begun] == [0, 1, 2, 3]
        collector.set_policy_version(10)
        assert places_of(await collector.next_batch(2)) == [2, 3]
        assert collector.counts.staleness == {0: 2, 1: 2}
    assert collector.counts.rejected == 0


async def test_a_group_that_is_too_old_when_it_completes_is_sampled_again_by_the_current_policy() -> None:
    held = HeldWork(lambda draw: draw.attempt == 0)
    async with Collector(make_tasks(), held.work, CollectorSettings(groups_a_step=1, group_size=2)) as collector:
        asking = asyncio.create_task(collector.next_batch(1))
        await let_others_run()
        collector.set_policy_version(1)
        held.free(0)
        (group,) = await asking
    assert (group.position, group.policy_version) == (0, 1)
    assert held.begun == [(0, 0, 0)] * 2 + [(0, 1, 1)] * 2
    assert (collector.counts.too_old, collector.counts.given_up, collector.counts.handed_over) == (1, 0, 1)


async def test_a_complete_group_that_grows_too_old_while_it_waits_is_sampled_again() -> None:
    settings = CollectorSettings(groups_a_step=1, group_size=1, most_versions_old=1)
    async with Collector(make_tasks(), USUAL_WORK, settings) as collector:
        await collector.next_batch(1)
        await let_others_run()
        collector.set_policy_version(1)
        collector.set_policy_version(2)
        (group,) = await collector.next_batch(1)
    assert (group.position, group.policy_version) == (1, 2)
    assert collector.counts.too_old == 1


async def test_policy_versions_only_rise() -> None:
    collector = Collector(make_tasks(), USUAL_WORK, THREE, CollectorState(policy_version=4))
    with pytest.raises(ValueError, match="only rise"):
        collector.set_policy_version(3)


@pytest.mark.parametrize(("handover", "places"), [(Handover.AS_COMPLETED, [1, 2]), (Handover.IN_TASK_ORDER, [0, 1])])
async def test_groups_go_as_they_complete_or_in_the_order_of_tasks(handover: Handover, places: list[int]) -> None:
    held = HeldWork()
    settings = CollectorSettings(groups_a_step=2, group_size=1, most_versions_old=1, handover=handover)
    async with Collector(make_tasks(), held.work, settings) as collector:
        asking = asyncio.create_task(collector.next_batch(2))
        held.free(1)
        await let_others_run()
        held.free(2)
        await let_others_run()
        held.free(0)
        assert places_of(await asking) == places


async def test_a_group_without_enough_rewards_is_sampled_again() -> None:
    async def judge(task: Task[int], rollout: Rollout) -> Reward:
        attempt = int(rollout.trajectory.episode.rpartition("/")[2])
        if rollout.number == 0 and attempt == 0:
            raise TimeoutError("the judge is away")
        if rollout.number == 1 and attempt == 1:
            return Reward(float("nan"))
        return await judge_by_number(task, rollout)

    async with Collector(make_tasks(), RolloutWork(ask_policy, judge), THREE) as collector:
        (group,) = await collector.next_batch(1)
        assert (collector.counts.too_many_missing, collector.counts.rewards_missing) == (2, 2)
    assert group.missing_share == 0


async def test_a_few_missing_rewards_may_stay() -> None:
    async def judge(task: Task[int], rollout: Rollout) -> Reward:
        return Reward(Missing("no judge")) if rollout.number == 0 else await judge_by_number(task, rollout)

    settings = CollectorSettings(groups_a_step=2, group_size=3, most_missing_share=0.5)
    async with Collector(make_tasks(), RolloutWork(ask_policy, judge), settings) as collector:
        (group,) = await collector.next_batch(1)
    assert group.rewards == [1.0, 2.0]


async def test_tasks_whose_rewards_never_differ_are_given_up_for_the_next() -> None:
    async def judge(task: Task[int], rollout: Rollout) -> Reward:
        return Reward(0.5) if task.material < 2 else await judge_by_number(task, rollout)

    settings = CollectorSettings(groups_a_step=2, group_size=2, least_spread=0.1, most_tries=3)
    async with Collector(make_tasks(), RolloutWork(ask_policy, judge), settings) as collector:
        assert places_of(await collector.next_batch(1)) == [2]
    assert (collector.counts.no_spread, collector.counts.given_up) == (6, 2)


async def test_a_judge_that_never_answers_ends_the_collection_and_its_reason_is_told() -> None:
    async def judge(_: Task[int], __: Rollout) -> Reward:
        raise ConnectionError("no route to the judge")

    settings = CollectorSettings(groups_a_step=2, group_size=2, most_tries=2, most_given_up=3)
    async with Collector(make_tasks(), RolloutWork(ask_policy, judge), settings) as collector:
        with pytest.raises(CollectionFailed, match="no route to the judge"):
            await collector.next_batch(2)


async def test_the_last_batch_has_what_is_left() -> None:
    async with Collector(make_tasks(range(3)), USUAL_WORK, THREE) as collector:
        assert [len(await collector.next_batch(2)) for _ in range(3)] == [2, 1, 0]


async def test_tasks_that_cannot_be_read_end_the_collection() -> None:
    async with Collector(make_tasks(map(int, ["0", "one"])), USUAL_WORK, THREE) as collector:
        with pytest.raises(CollectionFailed, match="one"):
            await collector.next_batch(2)


async def test_a_restart_goes_on_with_the_tasks_that_are_not_done() -> None:
    held = HeldWork()
    async with Collector(make_tasks(), held.work, TWO_AHEAD) as collector:
        held.free(0, 2)
        collector.set_policy_version(5)
        await collector.next_batch(2)
        kept = collector.state.model_dump_json()
    state = CollectorState.of_any_version(kept)
    async with Collector(make_tasks(), USUAL_WORK, TWO_AHEAD, state) as collector:
        (first, second) = await collector.next_batch(2)
    assert (first.position, second.position, first.policy_version) == (1, 3, 5)
    assert collector.counts.handed_over == 4
    assert collector.counts.staleness == {0: 4}
